"""A trained toy as a model."""
