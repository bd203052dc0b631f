"""Graphs with rules, and wrong relations put among them."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from benchmarks.claims import Triple, graph
from hydramem.graph.snapshot import Snapshot

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
