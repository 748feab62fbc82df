"""Computations of Spans: shares of attention, and answers with a part of the prompt hidden.

This folder may import tensors and models, but no picture and no page.
"""
