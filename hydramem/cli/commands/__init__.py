"""The commands that are no rows of the table, one a file."""
