"""Damage that a store must survive, or refuse by name: seeded, on real engines."""
