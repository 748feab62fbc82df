"""The picture Compare: two runs beside each other, head by head."""
