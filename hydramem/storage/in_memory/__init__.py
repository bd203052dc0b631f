"""Stores that keep everything in this process and nothing afterwards, for tests and trials."""
