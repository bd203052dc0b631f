"""Graphs with rules, and wrong relations put among them."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from benchmarks.claims import Triple, graph
from hydramem.garden.edges.labelled_relations import Labels
from hydramem.graph.snapshot.snapshot import Snapshot
from hydramem.verification.first_stage.relation_arrays import Claims

COMPANIES, CITIES = 12, 5


def triples(people: int) -> list[Triple]:
    """Return people at companies, companies in cities, people where their company is, and who knows whom."""
    found: list[Triple] = []
    for one in range(people):
        company = one % COMPANIES
        found.append((f"person {one}", "works_for", f"company {company}"))
        found.append((f"person {one}", "lives_in", f"city {company % CITIES}"))
        other = (one + COMPANIES) % people
        if other != one:
            found.append((f"person {one}", "knows", f"person {other}"))
    return found + [(f"company {one}", "located_in", f"city {one % CITIES}") for one in range(COMPANIES)]


def ruled(people: int, more: Sequence[Triple] = ()) -> Snapshot:
    """Return such a graph."""
    return graph([*triples(people), *more])


def planted(*, random: int, people: int = 150) -> tuple[Snapshot, NDArray[np.bool_]]:
    """Return such a graph with wrong relations at random, and which of its edges they are."""
    draw = np.random.default_rng(0)
    right = triples(people)
    ends = sorted({end for triple in right for end in (triple[0], triple[2])})
    types = sorted({triple[1] for triple in right})
    wrong: set[Triple] = set()
    while len(wrong) < random:
        subject, object = (ends[place] for place in draw.integers(0, len(ends), 2))
        one = (subject, types[draw.integers(len(types))], object)
        if subject != object and one not in right:
            wrong.add(one)
    snapshot = ruled(people, sorted(wrong))
    edges, ids = snapshot.edges, snapshot.nodes.ids
    told = [
        type >= 0 and (ids[source], edges.types[type], ids[target]) in wrong
        for source, type, target in zip(edges.source, edges.type, edges.target, strict=True)
    ]
    return snapshot, np.array(told)


JUDGED, UNJUDGED = range(20), range(20, 60)
"""People whose admiration of a city a person judged, and those whom nobody asked about."""


def odd_ones(*, true: bool | None) -> tuple[Snapshot, NDArray[np.int64], Labels | None]:
    """Return such a graph with relations of an odd kind, of which a person judged some.

    Args:
        true: What the person said of those; what is false is taken out. None says nothing.

    Returns:
        The graph, the rows of those that nobody judged, and what was said.
    """
    kept = [*UNJUDGED] if true is False else [*JUDGED, *UNJUDGED]
    odd = [(f"person {one}", "admires", f"city {one % CITIES}") for one in kept]
    odd += [(f"person {one}", "admires", f"person {(one * 7 + 1) % 150}") for one in range(90, 150)]
    snapshot = ruled(150, odd)
    edges, type = snapshot.edges, snapshot.edges.types.index("admires")
    cities = [snapshot.node(f"city {one}") for one in range(CITIES)]
    asked = [snapshot.node(f"person {one}") for one in UNJUDGED]
    like = (edges.type == type) & np.isin(edges.target, cities) & np.isin(edges.source, asked)
    return snapshot, np.flatnonzero(like), None if true is None else said(snapshot, true=true)


def said(snapshot: Snapshot, *, true: bool) -> Labels:
    """Return what a person says of the odd relations that they were asked about."""
    ends = [[snapshot.node(f"person {one}"), snapshot.node(f"city {one % CITIES}")] for one in JUDGED]
    subject, object = np.array(ends, dtype=np.int64).T
    kinds = snapshot.nodes.type.astype(np.int64)
    claims = Claims(
        subject=subject,
        type=np.full(len(JUDGED), snapshot.edges.types.index("admires")),
        object=object,
        subject_kind=kinds[subject],
        object_kind=kinds[object],
    )
    return Labels(claims=claims, true=np.full(len(JUDGED), true))
