"""Files of a checkpoint, checked before anything is read from them: folders, the hub, GGUF."""
