"""What operations return: frozen values, the same on every surface."""
