"""Merge: which entities and memories are the same, and what becomes of them."""
