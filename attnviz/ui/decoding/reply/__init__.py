"""The tab Reply of the Decoding page: a reply as it is written, token by token."""
