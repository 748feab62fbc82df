"""The cabinet of bugs: attention written wrong on purpose, and what notices each bug."""
