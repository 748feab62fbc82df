"""The drawing of the model that every page can open, and the explanations of a page's words."""
