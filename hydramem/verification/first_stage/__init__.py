"""The first stage of verification (SR-MKG): features of graph and text, and a logistic model."""
