"""Numbers of Decoding: steps against the one pass, losses, cost, and how far rounding may move them.

This folder knows tensors and models. It knows no picture and no page.
"""
