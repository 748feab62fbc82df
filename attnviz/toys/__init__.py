"""Toys: small Transformers that are trained in seconds on generated tasks, and recordings of their training.

This folder builds on the Transformer and on traces. It uses no picture and no page. `python -m attnviz.toys` trains the
shipped toys.
"""
