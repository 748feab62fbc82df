"""Computations over many sentences: profiles of heads, their importance, pruning, and the queue of studies.

This folder may import models and lists of sentences, but no picture and no page.
"""
