"""Attnviz's attention in the place of a checkpoint's own, by transformers' interface or by its softmax."""
