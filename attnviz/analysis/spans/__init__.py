"""Spans of a prompt: how much attention each gets from an answer, and what the answer loses without it."""
