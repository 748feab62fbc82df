"""The picture Reply: a chat model's reply, token by token, with the attention rows behind each token."""
