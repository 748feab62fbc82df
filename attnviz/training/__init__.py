"""Train a translator: from sentence pairs to a checkpoint with a model card.

This folder builds on models and toys. It uses no picture and no page, and nothing else imports it.
"""
