"""Writing a reply: its attention rows, and the choice of each token by seed and position.

This folder may import models, but no picture and no page.
"""
