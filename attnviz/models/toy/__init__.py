"""A trained toy as a model that attnviz can trace."""
