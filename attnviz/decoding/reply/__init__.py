"""The picture Reply: a chat model's reply, token by token, with the rows of attention behind each token."""
