"""Computations of the page Implementations: equality, cost, mask shapes, and a bug put into a model.

This folder may import tensors and models, but no picture and no page.
"""
