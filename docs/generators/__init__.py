"""Pictures, and pages about other surfaces than the operations, for `docs/generate.py`."""
