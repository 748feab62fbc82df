"""Conversations with a checkpoint: its chat template, and the turns among its tokens."""
