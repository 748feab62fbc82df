"""Limits on what a browser sends, and the messages that it keeps, so that none is sent twice."""
