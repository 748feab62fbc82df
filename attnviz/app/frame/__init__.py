"""The frame of a page: the top bar, the menu, the summary line on narrow screens, and the status bar."""
