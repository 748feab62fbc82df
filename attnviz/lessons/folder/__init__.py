"""A lesson as a folder of plain files for any web host. It needs no Python and no server."""
