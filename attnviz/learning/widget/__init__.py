"""The picture of a training: curves, maps and lines at the chosen step, and the feed of a live run."""
