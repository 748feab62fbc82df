"""Texts: tokens, the tokenizer, words, conversations, and limits on their length.

This folder knows characters and ids. It knows no model and no tensor.
"""
