"""Supersede: what newer relations and memories end."""
