"""Recall: gather candidates from vectors, full text and graph, fuse them, pack them."""
