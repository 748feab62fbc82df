"""A reply as it is written: its rows of attention, and the choice of each token by seed and position.

This folder knows models. It knows no picture and no page.
"""
