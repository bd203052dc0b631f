"""Relations of one subject and functional type that hold at once with different objects, by arrays alone."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hydramem.core.time import now
from hydramem.graph.snapshot.snapshot import RELATION, Snapshot

_MOST_OF_ONE = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Rivals:
    """Two relations, by their ids.

    Attributes:
        subject: The node of the end that they share.
        ends: For each relation, the id of the entity that it is stored at.
        weight: How far the less certain of them is believed.
    """

    subject: int
    ids: tuple[str, str]
    ends: tuple[str, str]
    type: str
    weight: float


def rivals(
    snapshot: Snapshot, types: Collection[str], *, node: int | None = None, limit: int
) -> tuple[tuple[Rivals, ...], bool]:
    """Return pairs of believed relations that cannot both hold, most believed first.

    Args:
        snapshot: A project's graph.
        types: Relation types with one object at a time.
        node: Only relations at this entity; None looks at all.
        limit: Most pairs.

    Returns:
        The pairs, and whether there are more.
    """
    rows, subjects, objects = _sides(snapshot, types, node)
    edges = snapshot.edges
    order = np.lexsort((edges.valid_from[rows], subjects, edges.type[rows]))
    rows, subjects, objects = rows[order], subjects[order], objects[order]
    starts, ends = edges.valid_from[rows], edges.valid_to[rows]
    found = [
        Rivals(
            subject=int(subjects[one]),
            ids=(_id(snapshot, rows[one]), _id(snapshot, rows[other])),
            ends=(_stored_at(snapshot, rows[one]), _stored_at(snapshot, rows[other])),
            type=edges.types[int(edges.type[rows[one]])],
            weight=float(min(edges.weight[rows[one]], edges.weight[rows[other]])),
        )
        for begin, end in _groups(edges.type[rows], subjects)
        for one, other in _overlapping(starts, ends, objects, begin, end)
    ]
    found.sort(key=lambda pair: (-pair.weight, pair.ids))
    distinct = list({frozenset(pair.ids): pair for pair in reversed(found)}.values())[::-1]
    return tuple(distinct[:limit]), len(distinct) > limit


def _sides(
    snapshot: Snapshot, types: Collection[str], node: int | None
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int32]]:
    """Return relations as seen from their subjects; those that hold both ways from both ends."""
    edges = snapshot.edges
    codes = [code for code, name in enumerate(edges.types) if name in types]
    mask = snapshot.edge_mask(known_at=now(), kinds=(RELATION,)) & np.isin(edges.type, codes)
    # What is only supposed contradicts nothing: it gives way.
    rows = np.flatnonzero(mask & ~edges.supposed)
    both = rows[edges.bidirectional[rows]]
    every = np.concatenate([rows, both])
    subjects = np.concatenate([edges.source[rows], edges.target[both]])
    objects = np.concatenate([edges.target[rows], edges.source[both]])
    if node is not None:
        # What clashes with a relation at the entity may have another object: its whole group is looked at.
        own = np.unique(subjects[(subjects == node) | (objects == node)])
        kept = np.isin(subjects, own)
        every, subjects, objects = every[kept], subjects[kept], objects[kept]
    return every, subjects, objects


def _groups(types: NDArray[np.int32], subjects: NDArray[np.int32]) -> Iterator[tuple[int, int]]:
    """Yield where relations of one type and subject begin and end, for those that have several."""
    if not len(types):
        return
    changes = np.flatnonzero((types[1:] != types[:-1]) | (subjects[1:] != subjects[:-1])) + 1
    bounds = np.concatenate([[0], changes, [len(types)]])
    for place in np.flatnonzero(np.diff(bounds) > 1).tolist():
        yield int(bounds[place]), int(bounds[place + 1])


def _overlapping(
    starts: NDArray[np.int64], ends: NDArray[np.int64], objects: NDArray[np.int32], begin: int, end: int
) -> Iterator[tuple[int, int]]:
    """Yield pairs of a group with different objects that hold at one moment both, at most so many."""
    told = 0
    for one in range(begin, end):
        for other in range(one + 1, end):
            if starts[other] >= ends[one] or told >= _MOST_OF_ONE:
                break  # they are in order of their beginnings
            if objects[one] != objects[other] and starts[one] < ends[other]:
                told += 1
                yield one, other


def _id(snapshot: Snapshot, row: np.int64) -> str:
    return bytes(snapshot.edges.ids[row]).decode()


def _stored_at(snapshot: Snapshot, row: np.int64) -> str:
    return snapshot.nodes.ids[int(snapshot.edges.source[row])]
