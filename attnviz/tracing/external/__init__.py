"""Traces made from tensors and files that come from outside attnviz."""
