"""The picture Alignment: the source word from which each target word comes, by several methods."""
