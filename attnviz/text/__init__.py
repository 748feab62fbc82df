"""Text without a model: tokens, the translator's tokenizer, words, spans, conversations, and limits on length.

This folder handles characters and token ids. It uses no model and no tensor.
"""
