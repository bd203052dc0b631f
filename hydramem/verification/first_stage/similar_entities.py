"""Features from similar nodes: how similar a claim's ends are to nodes with the same relation.

A node's profile is the set of its edges, each by type, direction and other end, rarer ones weighing more; the
similarity of two nodes is the cosine of their profiles (nearest neighbours, as in collaborative filtering).
What is learned from a graph is cached: profiles, and the rules of `path_features`.
"""

import threading
from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from hydramem.graph.snapshot.adjacency import ragged
from hydramem.graph.snapshot.name_index import NameIndex
from hydramem.graph.snapshot.snapshot import RELATION, Snapshot
from hydramem.verification.first_stage.path_features import Rules, learn
from hydramem.verification.first_stage.relation_arrays import Claims, Facts, Floats, Ints, found, lay_out

NAMES = ("like_subject", "like_object")
_MOST_LIKE = 128
_MOST_EDGES = 256
_BLOCK = 65_536

# A graph is learned again after it grew by this share, and each time where it has at most so many relations.
_GROWTH, _QUICK = 0.1, 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class Profiles:
    """The profile of each node.

    Attributes:
        matrix: Sparse, shape (nodes, distinct edges); rows of nodes with many edges keep their rarest.
        squares: Sum of squares of each row.
        columns: What `_column` gives for each column, ascending.
        weights: Weight of each column.
        entries: `row * columns + column` of each entry, ascending.
    """

    matrix: Any
    squares: Floats
    columns: Ints
    weights: Floats
    entries: Ints


def profiles(facts: Facts) -> Profiles:
    """Lay out the profile of each node."""
    from scipy.sparse import csr_matrix

    node = np.concatenate([facts.subject, facts.object])
    edge = np.concatenate(
        [
            _column(facts, facts.type * 2, facts.object),
            _column(facts, facts.type * 2 + 1, facts.subject),
        ]
    )
    columns, column, often = np.unique(edge, return_inverse=True, return_counts=True)
    weights = np.log1p(facts.size / np.maximum(often, 1))
    node, column = _rarest(node, column, often, facts.size)
    matrix = csr_matrix(
        (weights[column], (node, column)), shape=(facts.size, max(len(columns), 1)), dtype=np.float64
    )
    matrix.sort_indices()
    return Profiles(
        matrix=matrix,
        squares=np.asarray(np.bincount(node, weights=weights[column] ** 2, minlength=facts.size)),
        columns=columns,
        weights=weights,
        entries=np.sort(node * max(len(columns), 1) + column),
    )


def _column(facts: Facts, label: Ints, other: Ints) -> Ints:
    return label * facts.size + other


def _rarest(node: Ints, column: Ints, often: Ints, size: int) -> tuple[Ints, Ints]:
    """Leave each node its rarest edges."""
    many = np.bincount(node, minlength=size)[node] > _MOST_EDGES
    few, node, other = node[~many], node[many], column[many]
    order = np.lexsort((often[other], node))
    node, other = node[order], other[order]
    kept = np.arange(len(node)) - np.searchsorted(node, node) < _MOST_EDGES
    return np.concatenate([few, node[kept]]), np.concatenate([column[~many], other[kept]])


def likeness(facts: Facts, known: Profiles, claims: Claims) -> Floats:
    """Return how like each end is to the likest of those that stand in its place.

    Args:
        facts, known: The graph and its profiles.

    Returns:
        Shape (claims, `NAMES`), 0 to 1: the subject's likeness to other subjects of type and object, and the
        object's to other objects of subject and type.
    """
    others = (*facts.subjects(claims.type, claims.object), facts.turned_keys)
    own = _column(facts, claims.type * 2, claims.object)
    subjects = _likest(facts, known, claims.subject, others, own)
    others = (*facts.objects(claims.type, claims.subject), facts.triple_keys)
    own = _column(facts, claims.type * 2 + 1, claims.subject)
    objects = _likest(facts, known, claims.object, others, own)
    return np.stack([subjects, objects], axis=1)


def _likest(facts: Facts, known: Profiles, nodes: Ints, others: tuple[Ints, Ints, Ints], own: Ints) -> Floats:
    """Compare each node with an even sample of others, its own edge left out of its profile."""
    begins, ends, keys = others
    number = np.minimum(ends - begins, _MOST_LIKE)
    claim, place = ragged(np.zeros_like(number), number)
    row = begins[claim] + place * (ends - begins)[claim] // np.maximum(number[claim], 1)
    other = keys[row] % max(facts.size, 1)
    differ = other != nodes[claim]
    claim, other = claim[differ], other[differ]
    column = found(known.columns, own)
    has = (column >= 0) & (found(known.entries, nodes * known.matrix.shape[1] + column) >= 0)
    left_out = np.where(has, known.weights[np.maximum(column, 0)] ** 2 if len(known.weights) else 0.0, 0.0)
    dot = np.concatenate([np.zeros(0), *_dots(known, nodes[claim], other)]) - left_out[claim]
    squares = np.maximum(known.squares[nodes] - left_out, 0)
    cosine = dot / np.maximum(np.sqrt(squares[claim] * known.squares[other]), 1e-9)
    best = np.zeros(len(nodes))
    np.maximum.at(best, claim, np.clip(cosine, 0, 1))
    return best


def _dots(known: Profiles, ones: Ints, others: Ints) -> list[Floats]:
    blocks = range(0, len(ones), _BLOCK)
    return [
        np.asarray(
            known.matrix[ones[begin : begin + _BLOCK]]
            .multiply(known.matrix[others[begin : begin + _BLOCK]])
            .sum(axis=1)
        ).ravel()
        for begin in blocks
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class Learned:
    """What was learned from a graph at one moment.

    Attributes:
        edges: How many relations the graph had, of any state.
    """

    facts: Facts
    rules: Rules
    profiles: Profiles
    edges: int


_cache: "WeakKeyDictionary[NameIndex, Learned]" = WeakKeyDictionary()
_cache_lock = threading.Lock()


def learned(snapshot: Snapshot) -> Learned:
    """Return what is learned from the graph, from this snapshot or one shortly before it.

    Snapshots of one growing graph share their name index, which is the key of the cache. In between, claims
    are judged by the earlier graph: learning takes seconds on half a million edges, which a write of one
    relation must not.
    """
    index = snapshot.names.index
    with _cache_lock:
        known = _cache.get(index)
    if known is None or not _serves(known, snapshot):
        facts = lay_out(snapshot)
        known = Learned(facts=facts, rules=learn(facts), profiles=profiles(facts), edges=_relations(snapshot))
        with _cache_lock:
            _cache[index] = known
    return known


def prepare(snapshot: Snapshot) -> None:
    """Learn from a large graph ahead of its first use, which takes a second."""
    if _relations(snapshot) > _QUICK:
        learned(snapshot)


def _serves(known: Learned, snapshot: Snapshot) -> bool:
    edges = _relations(snapshot)
    return known.edges <= edges <= known.edges * (1 + _GROWTH) and edges > _QUICK


def _relations(snapshot: Snapshot) -> int:
    return int(np.count_nonzero(snapshot.edges.kind == RELATION))
