"""The translator that comes along: drafts, steps, and decoding broken on purpose."""
