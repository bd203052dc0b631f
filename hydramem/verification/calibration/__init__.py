"""A project's own weights and thresholds: labels in, fitted, tried, kept."""
