"""Methods that align words by attention, and their errors against links drawn by hand.

This folder knows tensors and models. It knows no picture and no page.
"""
