"""Fetching models: from a hub or a folder, checked, tried, and put in place whole or not at all."""
