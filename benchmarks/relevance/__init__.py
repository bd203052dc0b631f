"""Relevance: fitted on stores of several kinds, and measured with each kind of store left out."""
