"""Vectors and full text on LanceDB; the only package that imports it."""

from hydramem.storage.lance.vectors import open_vectors

__all__ = ["open_vectors"]
