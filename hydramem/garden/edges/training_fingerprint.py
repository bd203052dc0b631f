"""What a trained scorer of edges was trained on, and whether that still is what there is. Pure.

A graph is told by a hash of each of its relations: how many are new or gone since is counted, not guessed.
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
"""Share of the relations, or of what people said, that may be new or gone."""

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
    """Return the fingerprint of a graph, of what people said of it, and of settings.

    Args:
        snapshot: The graph.
        labels: What people said of its relations.
        settings: What shapes a model.
    """
    found = np.unique(hashes(snapshot, claims_of(snapshot, stated_of(snapshot))))
    said = hashes(snapshot, labels.claims) ^ labels.true
    return Fingerprint(
        settings=content_hash(repr(tuple(settings))),
        graph=blake2b(found.tobytes(), digest_size=16).hexdigest(),
        relations=found,
        labels=np.unique(said),
    )


def hashes(snapshot: Snapshot, claims: Claims) -> Hashes:
    """Return a hash of each claim, which says the same of it in any snapshot."""
    node = _of_names(snapshot.nodes.ids[: snapshot.size])
    type = _of_names(snapshot.edges.types)
    ends = node[claims.subject], node[claims.object]
    return _stirred(_stirred(_stirred(ends[0]) + type[claims.type]) + ends[1])


def stale(then: Fingerprint, now: Fingerprint) -> str | None:
    """Say why what was trained then does not serve now; None where it does.

    A setting that changed is never tolerated, and of relations and labels a tenth.
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
    """Return how many are new or gone, for each of then."""
    return len(np.setxor1d(then, now, assume_unique=True)) / max(len(then), 1)


def _of_names(names: Sequence[str]) -> Hashes:
    digests = b"".join(
        blake2b(name.encode("utf-8", "surrogatepass"), digest_size=8).digest() for name in names
    )
    return np.frombuffer(digests, dtype=np.uint64)


def _stirred(values: Hashes) -> Hashes:
    """Spread every bit over all others (the finalizer of splitmix64, Steele et al., 2014)."""
    values = values + np.uint64(0x9E3779B97F4A7C15)
    values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(values ^ (values >> np.uint64(31)))
