"""The results of operations: frozen values, the same on every surface."""
