"""Computations of Causes: effects of heads, patching, comparison of two runs, and attribution of a logit.

This folder may import tensors and models, but no picture and no page.
"""
