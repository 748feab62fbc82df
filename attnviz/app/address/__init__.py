"""The page's address: reading and writing its parameters, the browser's history, and reconnecting to the server."""
