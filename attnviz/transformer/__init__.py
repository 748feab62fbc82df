"""The Transformer itself: attention, layers, masks, caches, decoding.

This folder knows torch. It knows no token, no trace and no model.
"""
