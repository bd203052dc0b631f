"""Conflicts as `conflicts` lists them, as cases of a review: also those that the queue does not ask about."""

import numpy as np

from hydramem.garden.review.conflicting_pairs import conflicting_pair
from hydramem.garden.review.questions import TEXT_SHOWN, WHICH, Case, conflict_case, names_of, new_case
from hydramem.graph.snapshot.snapshot import Snapshot
from hydramem.storage.store import GraphStore
from hydramem.text.shown_text import one_line


def rows_named(id: str) -> tuple[str, ...]:
    """Return the ids of the rows that the id of a question names."""
    return tuple(id.partition(":")[2].split("+"))


def named_conflict(id: str, graph: GraphStore, snapshot: Snapshot) -> Case | None:
    """Return the case of a conflict by the id that `conflicts` gives it; None where a side is gone.

    Args:
        id: The id of an answer.
        graph: Where the rows are read.
        snapshot: The project's graph, where relations are found by their ids.
    """
    ids = rows_named(id)
    if not id.startswith("conflict:") or len(ids) != 2:
        return None
    chunks = [row for row in graph.chunks(ids) if row.state == "active" and row.project == snapshot.project]
    if len(chunks) == 2:
        older, newer = sorted(chunks, key=lambda row: (row.happened_at or row.times.recorded_at, row.id))
        texts = (one_line(row.text, TEXT_SHOWN) for row in (older, newer))
        text = 'Which holds: (1) "{}", (2) "{}", both or neither?'.format(*texts)
        return new_case("conflict", (older, newer), text, "Both may not hold.", choices=WHICH)
    edges = snapshot.edges
    places = np.flatnonzero(np.isin(edges.ids, np.array([each.encode() for each in ids])))
    ends = sorted({snapshot.nodes.ids[int(edges.source[place])] for place in places})
    relations = [row for row in (graph.relations(ends) if ends else ()) if row.id in ids]
    pair = conflicting_pair(relations[0], relations[1], graph) if len(relations) == 2 else None
    return None if pair is None else conflict_case(pair, names_of(pair.rows, graph), snapshot)
