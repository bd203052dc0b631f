"""Vectors and words on PostgreSQL: tables of a space, exact and approximate search, and BM25."""
