"""Computations of Decoding: the comparison of steps with one pass, losses, costs, and rounding tolerances.

This folder may import tensors and models, but no picture and no page.
"""
