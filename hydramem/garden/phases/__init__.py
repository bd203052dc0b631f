"""The phases of a run: each reads its context and proposes changes."""
