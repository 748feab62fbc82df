"""The recording of the translator's training, in the form of a toy's."""
