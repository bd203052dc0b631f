"""The methods of a memory, by subject; each a short method that calls a flow."""
