"""Tiny graphs as lists of triples, every triple that may be asked of them, and both as arrays."""

import numpy as np
from hypothesis import example, given, settings
from hypothesis import strategies as st

from hydramem.verification.first_stage.relation_arrays import Claims, Facts, from_triples

SIZE, TYPES, KINDS = 7, 3, 3
KIND = np.arange(SIZE) % (KINDS - 1)
Triple = tuple[int, int, int]

EVERY: list[Triple] = [
    (subject, type, object)
    for subject in range(SIZE)
    for type in range(TYPES)
    for object in range(SIZE)
    if subject != object
]
"""Each triple between different nodes: of a graph, all are asked at once."""

# What random graphs have too seldom: a claim that alone joins its ends, one beside it, nodes that are alike.
_SEEN_SELDOM = [
    [(0, 0, 1)],
    [(0, 0, 1), (0, 1, 1)],
    [(0, 0, 2), (2, 0, 0)],
    [(0, 0, 1), (1, 1, 2), (3, 0, 4)],
    [(0, 0, 1), (0, 0, 2), (1, 0, 2), (3, 2, 1)],
    [(0, 0, 1), (0, 0, 2), (3, 0, 1), (3, 0, 2), (4, 1, 1), (5, 0, 2)],
    [(subject, type, 6) for subject in range(6) for type in (0, 1)],
]


def of_graphs(number: int):
    """Call a test with so many random graphs, besides those seen seldom."""

    def decorated(test):
        test = given(st.lists(st.sampled_from(EVERY), min_size=1, max_size=25, unique=True))(test)
        for known in _SEEN_SELDOM:
            test = example(known)(test)
        return settings(max_examples=number)(test)

    return decorated


def facts(known: list[Triple]) -> Facts:
    subject, type, object = np.array(known, dtype=np.int64).reshape(-1, 3).T
    return from_triples(subject, type, object, types=TYPES + 1, kind=KIND, kinds=KINDS)


def claims(asked: list[Triple]) -> Claims:
    subject, type, object = np.array(asked, dtype=np.int64).reshape(-1, 3).T
    return Claims(
        subject=subject, type=type, object=object, subject_kind=KIND[subject], object_kind=KIND[object]
    )


def large_graph(size: int, edges: list[Triple]) -> Facts:
    subject, type, object = np.array(edges, dtype=np.int64).T
    return from_triples(subject, type, object, types=3, kind=np.zeros(size, dtype=np.int64), kinds=2)
