"""One thing: which entities of a project are one, by what they are called and by what hangs on them.

The words of names and descriptions are weighed by `alike`; how the names may be of one thing (`bearable`)
says how much that counts for; then the graph speaks: shared neighbours for, a sentence that names both
side by side against.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import exp, log2

import numpy as np
from numpy.typing import NDArray

from hydramem.core.row_types import Entity
from hydramem.garden.phases.merge.candidate_blocks import candidates
from hydramem.garden.phases.merge.match_model import (
    MatchProfile,
    Rarity,
    Thing,
    match_profile,
    measured,
    shipped,
)
from hydramem.garden.phases.merge.name_compatibility import Bearing, bearing
from hydramem.garden.proposals.phase_context import PhaseContext
from hydramem.graph.snapshot.snapshot import MENTION, RELATION, Snapshot
from hydramem.ingest.knowledge.resolve import GENERAL
from hydramem.storage.schema import ENTITY
from hydramem.text.sentences import sentence_spans

# Log-odds that names alone can bring, from and to: what words cannot show, neighbours must.
_BOUNDS: Mapping[Bearing, tuple[float, float]] = {
    "equal": (2.5, 4.0),
    "alias": (0.5, 2.0),
    "turned": (0.0, 1.7),
    "misspelled": (-1.0, 1.5),
    "initials": (-0.5, 0.5),
    "shorter": (-4.0, -0.2),
}

_SAME_TYPE, _OTHER_TYPE = 0.4, -3.0

_PER_NEIGHBOUR, _MOST_OF_NEIGHBOURS = 3.0, 4.0

_RELATED, _SIDE_BY_SIDE, _APART = -4.0, -4.0, -1.0

_UNSURE = 0.0

_LEAST = -1.5

_AT_ONCE = 2000

_MOST_NEIGHBOURS = 2000

_MOST_READ = 4

_MOST_LOOKED_INTO = 2000

_ALIASES = 8

Nodes = NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class EntityMatch:
    """Two entities that may be one.

    Attributes:
        one, other: The one that is better known, and the other.
        how: How one thing may bear both names.
        odds: Log-odds that they are one.
        shared: Neighbours that both are related to.
        side_by_side: Sentences that name both.
    """

    one: Entity
    other: Entity
    how: Bearing
    odds: float
    shared: int = 0
    side_by_side: int = 0

    @property
    def probability(self) -> float:
        """How probable it is that they are one."""
        return 1.0 / (1.0 + exp(-max(-30.0, min(30.0, self.odds))))


@dataclass(frozen=True, slots=True, kw_only=True)
class Matches:
    """Pairs of entities that may be one, the most probable first; `stopped` where a budget ran out."""

    pairs: tuple[EntityMatch, ...]
    entities: int
    compared: int
    cut: int
    stopped: bool = False


def matches(ground: PhaseContext) -> Matches:
    """Return the entities of a project that may be one, by names and neighbours."""
    rows = [row for batch in ground.graph.scan(ENTITY) for row in batch if row.project == ground.project]
    things = [match_profile(_thing(row)) for row in rows]
    rarity = Rarity(thing.words for thing in things)
    found = candidates((thing.names for thing in things), limit=_limit(len(rows)))
    pairs: list[EntityMatch] = []
    stopped = False
    for start in range(0, len(found.one), _AT_ONCE):
        if stopped := ground.budget.over is not None:
            break
        places = zip(
            found.one[start : start + _AT_ONCE].tolist(),
            found.other[start : start + _AT_ONCE].tolist(),
            strict=True,
        )
        pairs += _by_names(places, rows, things, rarity)
        ground.progress(min(start + _AT_ONCE, len(found.one)), len(found.one))
    pairs = [_by_neighbours(pair, ground.snapshot) for pair in pairs]
    pairs = sorted(pairs, key=_order)[:_MOST_LOOKED_INTO]
    least = ground.settings.garden.review_at
    read = _by_sentences([pair for pair in pairs if pair.probability >= least], ground)
    return Matches(
        pairs=tuple(sorted(read, key=_order)),
        entities=len(rows),
        compared=len(found.one),
        cut=found.cut,
        stopped=stopped,
    )


def _limit(entities: int) -> int:
    return max(10_000, min(300_000, 4 * entities))


def _order(pair: EntityMatch) -> tuple[float, str, str]:
    return -pair.odds, pair.one.id, pair.other.id


def _thing(row: Entity) -> Thing:
    details = () if row.description is None else (row.description,)
    return Thing(names=(row.name, *row.aliases[:_ALIASES]), details=details)


def _by_names(
    places: "zip[tuple[int, int]]", rows: Sequence[Entity], things: Sequence[MatchProfile], rarity: Rarity
) -> list[EntityMatch]:
    """Return the pairs whose names one thing may bear, with what names and descriptions say."""
    found: list[tuple[int, int, Bearing]] = []
    for one, other in places:
        how = bearing(things[one].names, things[other].names)
        if how is not None:
            found.append((one, other, how))
    if not found:
        return []
    odds = shipped().odds([measured(things[one], things[other], rarity) for one, other, _ in found])
    made = (
        _match(rows[one], rows[other], how, float(said))
        for (one, other, how), said in zip(found, odds, strict=True)
    )
    return [pair for pair in made if pair.odds > _LEAST]


def _match(first: Entity, second: Entity, how: Bearing, said: float) -> EntityMatch:
    one, other = sorted((first, second), key=_standing)
    least, most = _BOUNDS[how]
    types = {first.type, second.type} - GENERAL
    typed = 0.0 if len(types) == 0 else _OTHER_TYPE if len(types) == 2 else 0.0
    if first.type == second.type and types:
        typed = _SAME_TYPE
    described_apart = said < _LEAST and bool(first.description and second.description)
    odds = max(least, min(most, said)) + typed + (_RELATED if described_apart else 0.0)
    return EntityMatch(one=one, other=other, how=how, odds=odds)


def _standing(row: Entity) -> tuple[int, int, str]:
    """Rank how well an entity is known: the most mentioned first, then the one with the longer name."""
    return -row.mention_count, -len(row.name), row.id


def _by_neighbours(pair: EntityMatch, snapshot: Snapshot) -> EntityMatch:
    """Add what the relations of both say: what is related to the same is one, what is related is two."""
    one, other = snapshot.node(pair.one.id), snapshot.node(pair.other.id)
    if one is None or other is None:
        return pair
    mine, yours = _neighbours(one, RELATION, snapshot), _neighbours(other, RELATION, snapshot)
    if other in mine:
        return replace(pair, odds=min(_UNSURE, pair.odds + _RELATED))
    shared = np.intersect1d(mine, yours)
    if not len(shared):
        apart = _APART if len(mine) > 3 and len(yours) > 3 else 0.0
        return replace(pair, odds=pair.odds + apart)
    degrees = snapshot.adjacency.degrees(shared)
    gained = sum(_PER_NEIGHBOUR / log2(2 + int(degree)) for degree in degrees)
    return replace(pair, odds=pair.odds + min(_MOST_OF_NEIGHBOURS, gained), shared=len(shared))


def _neighbours(node: int, kind: int, snapshot: Snapshot) -> Nodes:
    """Return the distinct neighbours of a node by active edges of one kind, ascending."""
    around = snapshot.adjacency.expand(np.array([node]))
    edges = around.halves[:_MOST_NEIGHBOURS] >> 1
    wanted = (snapshot.edges.kind[edges] == kind) & (snapshot.edges.state[edges] <= 0)
    return np.unique(around.neighbors[:_MOST_NEIGHBOURS][wanted]).astype(np.int64)


def _by_sentences(pairs: Sequence[EntityMatch], ground: PhaseContext) -> list[EntityMatch]:
    """Count against pairs the sentences that name both: what is told side by side is two."""
    snapshot = ground.snapshot
    together: dict[int, list[str]] = {}
    for place, pair in enumerate(pairs):
        one, other = snapshot.node(pair.one.id), snapshot.node(pair.other.id)
        if one is not None and other is not None:
            mine, yours = _neighbours(one, MENTION, snapshot), _neighbours(other, MENTION, snapshot)
            both = np.intersect1d(mine, yours)
            together[place] = [snapshot.nodes.ids[node] for node in both[-_MOST_READ:]]
    wanted = sorted({id for ids in together.values() for id in ids})
    texts = {chunk.id: chunk.text for chunk in ground.graph.chunks(wanted)} if wanted else {}
    return [
        _told_apart(pair, [texts[id] for id in together.get(place, ()) if id in texts])
        for place, pair in enumerate(pairs)
    ]


def _told_apart(pair: EntityMatch, texts: Sequence[str]) -> EntityMatch:
    names = sorted((pair.one.name.casefold(), pair.other.name.casefold()), key=len)
    count = sum(_names_both(text, *names) for text in texts)
    if not count:
        return pair
    return replace(pair, odds=min(_UNSURE, pair.odds + _SIDE_BY_SIDE), side_by_side=count)


def _names_both(text: str, shorter: str, longer: str) -> bool:
    """Say whether a sentence has both names, each where the other is not, and not in brackets after it."""
    for start, end in sentence_spans(text):
        sentence = text[start:end].casefold()
        if longer not in sentence:
            continue
        rest = sentence.replace(f"{longer} ({shorter})", "").replace(f"{shorter} ({longer})", "")
        if longer in rest and shorter in rest.replace(longer, ""):
            return True
    return False
