"""Review: questions that only a person can answer, and what the answers change."""
