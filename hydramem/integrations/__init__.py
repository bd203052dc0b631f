"""Plugs for other hosts."""
