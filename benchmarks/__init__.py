"""Measurements of HydraMem on public data, through its public surface."""
