"""The order of turns in conversations: its weights, and what it brings."""
