"""The second stage of verification (VoG): a model reads the evidence of a claim."""
