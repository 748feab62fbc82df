"""A reply as it is written: what a page asks for, and the messages that a browser draws it from."""
