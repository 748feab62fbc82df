"""A typed line through a trained toy: what it writes, and its maps."""
