"""Lists of sentences: how they are read, checked, and put into batches for a model."""
