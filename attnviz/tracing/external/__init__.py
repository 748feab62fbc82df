"""Traces from tensors and files that were made elsewhere."""
