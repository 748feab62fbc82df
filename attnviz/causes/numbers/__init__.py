"""Numbers of Causes: effects of heads, patching, comparison of two runs, attribution of a logit.

This folder knows tensors and models. It knows no picture and no page.
"""
