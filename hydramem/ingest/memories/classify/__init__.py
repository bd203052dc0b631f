"""The fields that a caller left open, found by a model or by rules."""
