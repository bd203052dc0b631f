"""Items: JSON values that a program keeps under its own keys, or in the order of a session."""
