"""Rows of a vector store in memory: vectors, filter columns and words, for searches that read no table."""
