"""What can be looked into: our Transformer, toys, and checkpoints of Hugging Face, by one protocol.

A model knows how to run and be traced. It knows no picture and no page.
"""
