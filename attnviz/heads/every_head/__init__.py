"""The picture Every head: the whole model at once, a small map for each head."""
