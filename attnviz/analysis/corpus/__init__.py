"""Lists of sentences: reading and checking them, and batching them for a model."""
