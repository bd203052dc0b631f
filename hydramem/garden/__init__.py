"""The gardener: phases that improve a memory while nobody waits, their plans, and how those are applied."""
