"""Frameworks for agents: one module each, which alone imports the framework's package."""
