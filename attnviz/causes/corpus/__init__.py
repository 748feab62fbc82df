"""Heads over many sentences: what they do on average, and how the model does without them.

`python -m attnviz.causes.corpus` counts on the command line what the page shows.
"""
