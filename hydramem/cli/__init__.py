"""The command line: each operation as a command, and a few further commands."""
