"""How turns of a conversation are scored: by the turns around them, their speaker and their session."""
