"""The picture of a training: curves, maps and lines at the chosen moment, and the feed of a live one."""
