"""The relations of a snapshot as sorted arrays, in which a claim's neighbourhood is looked up by search."""

from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from hydramem.graph.snapshot.snapshot import RELATION, STATES, Snapshot

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Counted:
    """How often each of some keys occurs."""

    keys: Ints
    counts: Ints

    def of(self, keys: Ints) -> Ints:
        """Return how often each of these occurs."""
        places = np.searchsorted(self.keys, keys)
        inside = places < len(self.keys)
        places = np.where(inside, places, 0)
        if not len(self.keys):
            return np.zeros(len(keys), dtype=np.int64)
        return np.where(inside & (self.keys[places] == keys), self.counts[places], 0)


def distinct(keys: Ints) -> Ints:
    """Return each key once, ascending; ten times as fast as `np.unique`, which hashes a million of them."""
    ordered = np.sort(keys)
    return ordered[begins(ordered)]


def begins(ordered: Ints) -> Ints:
    """Return where each run of equal keys begins."""
    first = np.ones(len(ordered), dtype=np.bool_)
    np.not_equal(ordered[1:], ordered[:-1], out=first[1:])
    return np.flatnonzero(first)


def counted(keys: Ints) -> Counted:
    """Count keys."""
    ordered = np.sort(keys)
    first = begins(ordered)
    return Counted(keys=ordered[first], counts=np.diff(first, append=len(ordered)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Claims:
    """Triples to be judged, as arrays of shape (claims,).

    Attributes:
        subject, object: Nodes; -1 where the graph does not know the end.
        type: Codes of relation types; the last of `Facts.types` where the graph has none of that type.
        subject_kind, object_kind: Codes of entity types; -1 where unknown.
    """

    subject: Ints
    type: Ints
    object: Ints
    subject_kind: Ints
    object_kind: Ints


def taken(claims: Claims, rows: NDArray[np.integer] | NDArray[np.bool_]) -> Claims:
    """Return some of the claims."""
    return Claims(**{field.name: getattr(claims, field.name)[rows] for field in fields(Claims)})


def joined(parts: Sequence[Claims]) -> Claims:
    """Return claims one after the other."""
    return Claims(
        **{
            field.name: np.concatenate([getattr(part, field.name) for part in parts])
            for field in fields(Claims)
        }
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """Distinct active triples between different nodes, laid out for look-up.

    A label is `2 * type + backward`: how an edge reads from one of its ends. A pair is two nodes that some
    triple joins, in that order; each joined couple is two pairs. What is known of a pair stands in the
    same row of `neighbors` and `pair_keys`; its labels stand from `label_starts` of its row to the next's.

    Attributes:
        size: Nodes.
        types: Relation types, and one more, which no triple has.
        kinds: Entity types, and one more.
        subject, type, object: The triples, shape (triples,), by ascending key.
        triple_keys: What `keys` gives, ascending; `turned_keys`: with object before subject, ascending.
        starts: Where a node's pairs begin, shape (nodes + 1,).
        heads, tails: How often a node is subject, object of a type; key `type * size + node`.
        signatures: How often a type joins two kinds.
        couples: How often any type joins two kinds.
        per_type: Triples of each type; `heads_per_type`, `tails_per_type`: its distinct ends.
        leaving, arriving: Triples of which each node is subject, object.
        kind: The kind of each node.
    """

    size: int
    types: int
    kinds: int
    subject: Ints
    type: Ints
    object: Ints
    triple_keys: Ints
    turned_keys: Ints
    starts: Ints
    neighbors: Ints
    pair_keys: Ints
    label_starts: Ints
    labels: Ints
    heads: Counted
    tails: Counted
    signatures: Counted
    couples: Counted
    per_type: Ints
    heads_per_type: Ints
    tails_per_type: Ints
    leaving: Ints
    arriving: Ints
    kind: Ints

    def keys(self, type: Ints, subject: Ints, object: Ints) -> Ints:
        """Return a number for each triple."""
        return (type * self.size + subject) * self.size + object

    def objects(self, type: Ints, subject: Ints) -> tuple[Ints, Ints]:
        """Return where the triples of a type and subject begin and end among `triple_keys`."""
        first = (type * self.size + subject) * self.size
        return np.searchsorted(self.triple_keys, first), np.searchsorted(self.triple_keys, first + self.size)

    def subjects(self, type: Ints, object: Ints) -> tuple[Ints, Ints]:
        """Return where the triples of a type and object begin and end among `turned_keys`."""
        first = (type * self.size + object) * self.size
        return np.searchsorted(self.turned_keys, first), np.searchsorted(self.turned_keys, first + self.size)

    def claims(self, subject: Ints, type: Ints, object: Ints) -> Claims:
        """Return triples of known nodes as claims."""
        return Claims(
            subject=subject,
            type=type,
            object=object,
            subject_kind=self.kind[subject],
            object_kind=self.kind[object],
        )

    def stored(self, claims: Claims) -> NDArray[np.bool_]:
        """Say for each claim whether it is one of the triples."""
        return found(self.triple_keys, self.keys(claims.type, claims.subject, claims.object)) >= 0

    def degrees(self, nodes: Ints) -> Ints:
        """Return how many other nodes each of these is joined to."""
        return self.starts[nodes + 1] - self.starts[nodes]

    def pairs(self, ones: Ints, others: Ints) -> Ints:
        """Return the row of each pair, -1 where nothing joins the two."""
        return found(self.pair_keys, ones * self.size + others)

    def couple(self, ones: Ints, others: Ints) -> Ints:
        """Return a number for each couple of kinds."""
        return ones * self.kinds + others


def found(keys: Ints, wanted: Ints) -> Ints:
    """Return where each wanted key stands among ascending keys, -1 where it is not there."""
    if not len(keys):
        return np.full(len(wanted), -1, dtype=np.int64)
    places = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    return np.where(keys[places] == wanted, places, -1)


def lay_out(snapshot: Snapshot) -> Facts:
    """Lay out the active relations of a snapshot that something states: a guess supports nothing."""
    edges = snapshot.edges
    stated = (edges.kind == RELATION) & (edges.state == STATES.index("active")) & ~edges.supposed
    rows = np.flatnonzero(stated)
    ends = edges.source[rows].astype(np.int64), edges.target[rows].astype(np.int64)
    return from_triples(
        ends[0],
        edges.type[rows].astype(np.int64),
        ends[1],
        types=len(edges.types) + 1,
        kind=snapshot.nodes.type[: snapshot.size].astype(np.int64),
        kinds=len(snapshot.nodes.types) + 1,
    )


def from_triples(subject: Ints, type: Ints, object: Ints, *, types: int, kind: Ints, kinds: int) -> Facts:
    """Lay out triples.

    Args:
        subject, type, object: Nodes and codes of types, shape (triples,).
        types: How many types there may be, and one more.
        kind: The kind of each node, shape (nodes,); -1 where unknown.
        kinds: How many kinds there may be, and one more.
    """
    size = len(kind)
    differ = subject != object
    keys = distinct((type[differ] * size + subject[differ]) * size + object[differ])
    object, subject, type = keys % size, keys // size % size, keys // size // size
    nodes, near = np.concatenate([subject, object]), np.concatenate([object, subject])
    labels = np.concatenate([type * 2, type * 2 + 1])
    # As one number each: to sort three columns together takes ten times as long.
    laid = np.sort((nodes * size + near) * (2 * types) + labels)
    pair_of_label, labels = laid // (2 * types), laid % (2 * types)
    label_starts = begins(pair_of_label)
    pair_keys = pair_of_label[label_starts]
    heads, tails = counted(type * size + subject), counted(type * size + object)
    couple = kind[subject] * kinds + kind[object]
    return Facts(
        size=size,
        types=types,
        kinds=kinds,
        subject=subject,
        type=type,
        object=object,
        triple_keys=keys,
        turned_keys=np.sort((type * size + object) * size + subject),
        starts=np.searchsorted(pair_keys // max(size, 1), np.arange(size + 1)),
        neighbors=pair_keys % max(size, 1),
        pair_keys=pair_keys,
        label_starts=np.append(label_starts, len(labels)),
        labels=labels,
        heads=heads,
        tails=tails,
        signatures=counted(type * kinds * kinds + couple),
        couples=counted(couple),
        per_type=np.bincount(type, minlength=types),
        heads_per_type=np.bincount(heads.keys // max(size, 1), minlength=types),
        tails_per_type=np.bincount(tails.keys // max(size, 1), minlength=types),
        leaving=np.bincount(subject, minlength=size),
        arriving=np.bincount(object, minlength=size),
        kind=kind,
    )
