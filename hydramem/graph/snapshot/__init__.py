"""A project's graph as arrays: immutable snapshots, and the writer that keeps them current."""
