"""The database's versions, one file each."""
