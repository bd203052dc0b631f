"""Prune: what goes to the archive, and what is removed from it."""
