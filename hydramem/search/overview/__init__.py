"""The graph read as a whole and around one thing: communities, surroundings, history, the audit."""
