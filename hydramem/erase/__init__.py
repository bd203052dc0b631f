"""Erase: memories, documents, entities and projects are gone for good, from every file of a store."""
