"""The graph store on LadybugDB or Kuzu: the one place that imports either, and that holds Cypher."""

from hydramem.storage.cypher.graph import open_graph

__all__ = ["open_graph"]
