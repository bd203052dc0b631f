"""The front of the HTTP server: what is checked of a request before the protocol reads it."""
