"""What pruning leaves alone, however it looks: what a person stands behind, what is verified or reused."""

from collections import defaultdict
from collections.abc import Sequence

from hydramem.core.row_types import Relation
from hydramem.ingest.knowledge.end_validity import is_version
from hydramem.ingest.knowledge.graph_rows import is_given
from hydramem.storage.store import GraphStore

REUSED = 2
"""Distinct sessions in which something was recalled from which it counts as reused."""


def is_protected(row: Relation) -> bool:
    """Say whether a relation stands whatever the graph says: by who stated it, or by who decided on it."""
    return row.origin == "asserted" or row.layer == "verified" or is_given(row) or is_version(row)


def reused(chunks: Sequence[str], graph: GraphStore) -> frozenset[str]:
    """Return which of these chunks were recalled in several sessions.

    Args:
        chunks: Ids.
        graph: Where recalls are.
    """
    sessions: dict[str, set[str]] = defaultdict(set)
    for recall in graph.recalled(chunks=chunks) if chunks else ():
        sessions[recall.chunk].add(recall.session)
    return frozenset(chunk for chunk, seen in sessions.items() if len(seen) >= REUSED)
