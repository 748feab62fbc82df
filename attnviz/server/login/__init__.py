"""The login before the pages: a password, or OpenID Connect."""
