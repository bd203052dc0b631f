"""Functional relation types: those with one object at a time, judged by a project's own relations."""

import numpy as np

from hydramem.core.time import clock, now
from hydramem.graph.snapshot.adjacency import Mask
from hydramem.graph.snapshot.snapshot import RELATION, Snapshot

SHARE = 0.95
LEAST_SUBJECTS = 30


def functional_types(snapshot: Snapshot, *, least: int = LEAST_SUBJECTS) -> frozenset[str]:
    """Return the types of which nearly every subject has one object now; inferred relations do not count.

    Args:
        least: Fewest subjects of a type that are enough to tell.
    """
    columns = snapshot.edges
    rows = np.flatnonzero(holding_now(snapshot) & (columns.kind == RELATION) & ~columns.supposed)
    # One whole number per type and subject, and one with the object: these sort far faster than rows.
    pairs = columns.type[rows].astype(np.int64) * snapshot.size + columns.source[rows]
    distinct = np.unique(pairs * snapshot.size + columns.target[rows]) // max(1, snapshot.size)
    subjects, objects = np.unique(distinct, return_counts=True)
    types = subjects // max(1, snapshot.size)
    all_subjects = np.bincount(types, minlength=len(columns.types))
    with_one = np.bincount(types[objects == 1], minlength=len(columns.types))
    shown = np.flatnonzero((all_subjects >= least) & (with_one >= SHARE * all_subjects))
    return frozenset(columns.types[code] for code in shown.tolist())


def holding_now(snapshot: Snapshot) -> Mask:
    """Return the edges that hold now and are believed."""
    return snapshot.edge_mask(at=clock(), known_at=now())
