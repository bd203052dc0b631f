"""What a memory states, read from its words without a model, and how two statements meet."""
