"""The command line: the operations table as commands, and a few that stand beside it."""
