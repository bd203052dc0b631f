"""Checks of candidate relations."""
