"""The tasks that toys learn, such as reversing a line or translating into French."""
