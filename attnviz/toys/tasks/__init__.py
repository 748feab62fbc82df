"""The tasks that toys learn, such as to reverse a line or to translate into French."""
