"""Fingerprints of training data: whether a trained edge scorer still fits the graph and the labels.

A fingerprint holds a hash of each relation, so new and removed relations are counted exactly.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

from hydramem.core.ids import content_hash
from hydramem.garden.edges.labelled_relations import Labels, claims_of, stated_of
from hydramem.graph.snapshot.snapshot import Snapshot
from hydramem.verification.first_stage.relation_arrays import Claims

TOLERATED = 0.1
"""Share of the relations, or of the labels, that may be new or gone."""

Hashes = NDArray[np.uint64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Fingerprint:
    """What a scorer is trained on.

    Attributes:
        settings: Digest of the settings that shape a model.
        graph: Digest of the relations, their ends and types.
        relations: A hash of each distinct relation, ascending.
        labels: A hash of each label, ascending.
    """

    settings: str
    graph: str
    relations: Hashes
    labels: Hashes


def fingerprint(snapshot: Snapshot, labels: Labels, *, settings: Sequence[object]) -> Fingerprint:
    """Return the fingerprint of a graph, of labels, and of settings.

    Args:
        labels: Verdicts of people on its relations.
        settings: The settings that shape a model.
    """
    found = np.unique(hashes(snapshot, claims_of(snapshot, stated_of(snapshot))))
    labelled = hashes(snapshot, labels.claims) ^ labels.true
    return Fingerprint(
        settings=content_hash(repr(tuple(settings))),
        graph=blake2b(found.tobytes(), digest_size=16).hexdigest(),
        relations=found,
        labels=np.unique(labelled),
    )


def hashes(snapshot: Snapshot, claims: Claims) -> Hashes:
    """Return a hash of each claim, the same in every snapshot."""
    node = _name_hashes(snapshot.nodes.ids[: snapshot.size])
    type = _name_hashes(snapshot.edges.types)
    ends = node[claims.subject], node[claims.object]
    return _mixed(_mixed(_mixed(ends[0]) + type[claims.type]) + ends[1])


def stale(then: Fingerprint, now: Fingerprint) -> str | None:
    """Say why a model trained then is not usable now; None where it is.

    No setting may change, and at most a tenth of relations and labels.
    """
    if then.settings != now.settings:
        return "its settings have changed since"
    if then.graph != now.graph:
        share = _changed(then.relations, now.relations)
        if share > TOLERATED:
            return f"relations that are new or gone since come to {share:.0%} of those it was trained on"
    if _changed(then.labels, now.labels) > TOLERATED:
        return (
            f"people have judged {len(now.labels):,} relations by now; it learned from {len(then.labels):,}"
        )
    return None


def _changed(then: Hashes, now: Hashes) -> float:
    """Return the number of new and gone hashes, as a share of those of then."""
    return len(np.setxor1d(then, now, assume_unique=True)) / max(len(then), 1)


def _name_hashes(names: Sequence[str]) -> Hashes:
    digests = b"".join(
        blake2b(name.encode("utf-8", "surrogatepass"), digest_size=8).digest() for name in names
    )
    return np.frombuffer(digests, dtype=np.uint64)


def _mixed(values: Hashes) -> Hashes:
    """Mix the bits of each value (the finalizer of splitmix64, Steele et al., 2014)."""
    values = values + np.uint64(0x9E3779B97F4A7C15)
    values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(values ^ (values >> np.uint64(31)))
