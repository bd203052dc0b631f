"""Scorers of relations: training data, a logistic scorer, and one with torch."""
