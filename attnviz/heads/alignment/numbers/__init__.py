"""Methods that align words by attention, and their error rates against links made by hand.

This folder may import tensors and models, but no picture and no page.
"""
