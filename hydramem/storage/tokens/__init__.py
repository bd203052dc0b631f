"""Tokens of the HTTP server: what is known of them, and where they are kept."""
