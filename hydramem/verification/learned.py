"""What was learned of a project's relations, kept until there are a tenth more of them."""

import threading
from dataclasses import dataclass
from weakref import WeakKeyDictionary

import numpy as np

from hydramem.graph.snapshot.name_index import NameIndex
from hydramem.graph.snapshot.snapshot import RELATION, Snapshot
from hydramem.verification.facts import Facts, lay_out
from hydramem.verification.likeness import Profiles, profiles
from hydramem.verification.paths import Rules, learn

_GROWTH = 0.1

_QUICK = 1000
"""Relations that are learned afresh each time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Learned:
    """A graph's relations, what its paths mean and what its nodes are like, at one moment.

    Attributes:
        edges: How many relations the graph had then, of any state.
    """

    facts: Facts
    rules: Rules
    profiles: Profiles
    edges: int


_kept: "WeakKeyDictionary[NameIndex, Learned]" = WeakKeyDictionary()

_keeping = threading.Lock()


def learned(snapshot: Snapshot) -> Learned:
    """Return what the graph teaches, learned from this snapshot or one shortly before it.

    Snapshots of one growing graph share their index of names; it stands for the graph here. What is judged
    between is judged by the graph as it was: learning takes seconds on a half million edges, and a write of
    one relation must not.
    """
    index = snapshot.names.index
    with _keeping:
        known = _kept.get(index)
    if known is None or not _serves(known, snapshot):
        facts = lay_out(snapshot)
        known = Learned(facts=facts, rules=learn(facts), profiles=profiles(facts), edges=_relations(snapshot))
        with _keeping:
            _kept[index] = known
    return known


def prepare(snapshot: Snapshot) -> None:
    """Learn what a large graph teaches, where that was not done yet: it takes a second."""
    if _relations(snapshot) > _QUICK:
        learned(snapshot)


def _serves(known: Learned, snapshot: Snapshot) -> bool:
    edges = _relations(snapshot)
    return known.edges <= edges <= known.edges * (1 + _GROWTH) and edges > _QUICK


def _relations(snapshot: Snapshot) -> int:
    return int(np.count_nonzero(snapshot.edges.kind == RELATION))
