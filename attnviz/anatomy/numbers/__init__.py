"""Computations of the page Anatomy: a layer run line by line, and claims checked on a model.

This folder may import tensors and models, but no picture and no page.
"""
