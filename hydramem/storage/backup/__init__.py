"""Backups: the files of a store that cannot be made anew, as one compressed file."""
