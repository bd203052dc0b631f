"""The program that coding agents call at their events: it recalls for a prompt and captures what was said."""
