"""Checkpoints of a graph: generations of its file, made in a copy beside by a child process."""
