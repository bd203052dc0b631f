"""Distill: facts that a model finds in the turns of a session become memories."""
