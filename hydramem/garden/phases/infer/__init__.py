"""Infer: relations from the graph, and from what several sessions saw."""
