"""Relation types that have one object at a time, as far as a project's own relations show."""

import numpy as np

from hydramem.core.time import now
from hydramem.graph.snapshot.snapshot import RELATION, Mask, Snapshot

SHARE = 0.95
LEAST_SUBJECTS = 30


def functional_types(
    snapshot: Snapshot, edges: Mask, *, share: float = SHARE, least: int = LEAST_SUBJECTS
) -> frozenset[str]:
    """Return the types of which nearly every subject has one object; relations that nothing states show none.

    Args:
        snapshot: A project's graph.
        edges: The edges that count, such as those that hold now; shape (edges,).
        share: Least share of a type's subjects with exactly one object, 0 to 1.
        least: Fewest subjects of a type; fewer show nothing.
    """
    columns = snapshot.edges
    rows = np.flatnonzero(edges & (columns.kind == RELATION) & ~columns.supposed)
    # One whole number for a type and subject, and one for these and the object: sorted far faster than rows.
    pairs = columns.type[rows].astype(np.int64) * snapshot.size + columns.source[rows]
    distinct = np.unique(pairs * snapshot.size + columns.target[rows]) // max(1, snapshot.size)
    subjects, objects = np.unique(distinct, return_counts=True)
    types = subjects // max(1, snapshot.size)
    all_subjects = np.bincount(types, minlength=len(columns.types))
    with_one = np.bincount(types[objects == 1], minlength=len(columns.types))
    shown = np.flatnonzero((all_subjects >= least) & (with_one >= share * all_subjects))
    return frozenset(columns.types[code] for code in shown.tolist())


def seems_functional(snapshot: Snapshot, type: str) -> bool:
    """Say whether a project's relations show a type to have one object at a time, now."""
    return type in functional_types(snapshot, holding_now(snapshot))


def holding_now(snapshot: Snapshot) -> Mask:
    """Return the edges that hold now and are believed."""
    moment = now()
    return snapshot.edge_mask(at=moment, known_at=moment)
