"""The bars around a page: the top bar, the menu, the line on narrow screens, and the status bar."""
