"""The picture Compare: the attention of two runs side by side, head by head."""
