"""Numbers of the page Anatomy: the lines of a layer run one by one, and claims counted on a model.

This folder knows tensors and models. It knows no picture and no page.
"""
