"""The graph in memory: an immutable snapshot and the walks over it."""
