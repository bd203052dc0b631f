"""The rows of knowledge: entities, relations, their validity, trust and scopes."""
