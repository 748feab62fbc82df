"""Computations of Masks: what a mask does to scores, weights and the text that the model writes.

This folder may import tensors and models, but no picture and no page.
"""
