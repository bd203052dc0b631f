"""Training of the pair classifier."""
