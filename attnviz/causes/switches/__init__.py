"""The picture Switches: a board of all heads, each with what the model loses without the head."""
