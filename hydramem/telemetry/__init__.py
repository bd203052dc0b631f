"""Telemetry that stays in the store's folder: numbers about calls, never a text, a name, an id or a path."""
