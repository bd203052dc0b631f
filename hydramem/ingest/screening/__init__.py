"""Screening: what a text that is to be remembered holds besides what it says."""
