"""The picture Links: attention as lines between words."""
