"""Values that every layer shares; imports nothing of ours."""
