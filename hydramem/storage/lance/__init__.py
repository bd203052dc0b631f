"""Vectors and full text on LanceDB; the only package that imports it."""
