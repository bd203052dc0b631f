"""Memories of other programs: a reader for each format, and one flow that stores what they read."""
