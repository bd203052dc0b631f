"""What a new memory changes among those that are stored, by rules or by a model."""
