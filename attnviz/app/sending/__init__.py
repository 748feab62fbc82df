"""Limits on what a browser may send, and a record of the messages that a browser has cached."""
