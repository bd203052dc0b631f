"""Runs of the gardener: their phases, the application of plans, reports, and schedules."""
