"""The frame of every page: the bar above it, the menu beside it, the line that folds, and the status below."""
