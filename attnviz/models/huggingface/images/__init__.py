"""Models that read images: their processor, the grid of their patches, and how they are opened and verified."""
