"""The picture Alignment: which target word comes from which source word, by several methods."""
