"""The drawing of the model that stands on every page, and the words that a page explains."""
