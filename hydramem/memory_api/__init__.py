"""Memory, the Python interface: each operation checks its arguments and calls the flow of its layer."""
