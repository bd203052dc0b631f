"""What a text says about named things: names and typed relations, by rules and, where one is, by a generator."""
