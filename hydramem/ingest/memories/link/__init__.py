"""Links between a memory and those near it, by rules or by a model."""
