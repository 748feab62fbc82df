"""The page's address: what it says, the browser's history, and how a lost connection is mended."""
