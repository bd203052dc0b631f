"""Repair: compare the vector store with the graph store, and rebuild rows or all vectors."""
