"""The picture Patching: numbers of one run put into another, cell by cell."""
