"""Dates and times: as callers give them, and as texts and transcripts write them."""
