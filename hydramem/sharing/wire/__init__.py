"""How processes talk: where an owner listens, who is let in, messages, and values as bytes."""
