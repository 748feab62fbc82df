"""Conversations with a checkpoint: render its chat template, and find the turns among the tokens."""
