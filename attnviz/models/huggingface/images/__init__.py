"""Vision models: their image processor, the grid of their patches, and how they are opened and verified."""
