"""A reply as it is written: token by token, with the rows of attention that it was written by."""
