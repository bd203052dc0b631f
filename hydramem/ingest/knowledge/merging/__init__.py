"""Merges of entities, and how they are taken back."""
