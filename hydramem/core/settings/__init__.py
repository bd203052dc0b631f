"""Settings as text: read from files and the environment, edited, and described."""
