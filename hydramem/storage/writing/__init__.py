"""What stands around a write: rows that wait for a common commit, and the answer of a repeated request."""
