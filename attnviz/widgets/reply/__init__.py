"""A reply as it is written: its words, the rows of one head as they come, and each token's alternatives."""
