"""Ways to implement attention, correct and wrong.

Each computes the same site from the same weights. This folder may import tensors and one site's inputs, but no model,
no picture and no page.
"""
