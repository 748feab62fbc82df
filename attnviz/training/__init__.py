"""Training of a translator: sentence pairs become a checkpoint with its card.

Training knows models and toys. It knows no picture and no page, and nothing imports it.
"""
