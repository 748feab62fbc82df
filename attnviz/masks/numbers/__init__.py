"""Numbers of Masks: what a mask does to scores, weights and the text that the model writes.

This folder knows tensors and models. It knows no picture and no page.
"""
