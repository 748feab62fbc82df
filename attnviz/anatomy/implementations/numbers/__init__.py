"""Numbers of the page Implementations: equality, cost, mask shapes, and a bug put into a model.

This folder knows tensors and models. It knows no picture and no page.
"""
