"""Numbers over many sentences: profiles of heads, importance, pruning, and the studies that wait for a turn.

This folder knows models and lists of sentences. It knows no picture and no page.
"""
