"""What the Night Gardener does while nobody waits."""
