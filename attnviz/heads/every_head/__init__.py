"""The picture Every head: a small map for each head of the whole model."""
