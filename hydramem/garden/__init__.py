"""The gardener: phases that improve a memory in the background, their plans, and how those are applied."""
