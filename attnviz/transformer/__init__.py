"""The Transformer itself: attention, layers, masks, caches and decoding, in torch.

This folder uses no token, no trace and no pretrained model.
"""
