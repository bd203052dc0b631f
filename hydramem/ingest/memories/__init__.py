"""Memories: remembered, encoded, linked, revised and forgotten; sessions and curated files."""
