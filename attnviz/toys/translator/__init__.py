"""Recordings of a translator's training, in the same form as a toy's."""
