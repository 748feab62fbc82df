"""Models that attnviz can trace: its own Transformer, toys, and Hugging Face checkpoints, with a common interface.

This folder runs and traces models. It uses no picture and no page.
"""
