"""Files of a checkpoint: folders, downloads from the hub, GGUF. Everything is checked before it is read."""
