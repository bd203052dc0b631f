"""What a store does when its disk fails, is full, or holds damage; seeded, on real engines."""
