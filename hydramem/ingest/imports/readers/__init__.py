"""Readers of what other programs write, one a format; each yields plain records."""
