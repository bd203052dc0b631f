"""Which entities of a project are the same thing, by their names and by the graph.

A model (`match_model`) weighs the words of names and descriptions, within bounds set by how the names match
(`name_compatibility`). Shared neighbours then raise the odds; a relation between both, or a sentence that
names both, lowers them.
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
from hydramem.garden.phases.merge.name_compatibility import NameMatch, name_match
from hydramem.garden.proposals.phase_context import PhaseContext, PhaseWork
from hydramem.graph.snapshot.snapshot import MENTION, RELATION, Snapshot
from hydramem.ingest.knowledge.resolve import GENERAL
from hydramem.storage.schema import ENTITY
from hydramem.text.sentences import sentence_spans

_BOUNDS: Mapping[NameMatch, tuple[float, float]] = {
    "equal": (2.5, 4.0),
    "alias": (0.5, 2.0),
    "turned": (0.0, 1.7),
    "misspelled": (-1.0, 1.5),
    "initials": (-0.5, 0.5),
    "shorter": (-4.0, -0.2),
}
"""The least and the most log odds from names and descriptions; neighbours must show the rest."""

_SAME_TYPE, _OTHER_TYPE = 0.4, -3.0
_PER_NEIGHBOUR, _MOST_OF_NEIGHBOURS = 3.0, 4.0
_RELATED, _SIDE_BY_SIDE, _NO_SHARED = -4.0, -4.0, -1.0
"""Log odds added for a relation between both, a sentence with both, and no neighbour in common."""

_UNSURE = 0.0
_LEAST_ODDS = -1.5
_AT_ONCE = 2000
_MOST_NEIGHBOURS = 2000
_MOST_READ = 4
_MOST_LOOKED_INTO = 2000
_ALIASES = 8
Nodes = NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class EntityMatch:
    """Two entities that may be the same thing.

    Attributes:
        one, other: The better known one, and the other.
        how: How their names match.
        odds: Log odds that they are the same.
        shared: How many neighbours both are related to.
    """

    one: Entity
    other: Entity
    how: NameMatch
    odds: float
    shared: int = 0

    @property
    def probability(self) -> float:
        """How probable it is that they are the same."""
        return 1.0 / (1.0 + exp(-max(-30.0, min(30.0, self.odds))))


def project_entities(context: PhaseContext) -> list[Entity]:
    """Return all entities of the project."""
    return [row for batch in context.graph.scan(ENTITY) for row in batch if row.project == context.project]


def matches(rows: Sequence[Entity], work: PhaseWork) -> tuple[list[EntityMatch], int]:
    """Return the pairs of entities that may be the same, the most probable first.

    Args:
        rows: The entities of the project.
        work: The phase.

    Returns:
        The pairs, and how many pairs of names were beyond the limit of comparisons.
    """
    context = work.context
    profiles = [match_profile(_thing(row)) for row in rows]
    rarity = Rarity(profile.words for profile in profiles)
    limit = max(10_000, min(300_000, 4 * len(rows)))
    found = candidates((profile.names for profile in profiles), limit=limit)
    pairs: list[EntityMatch] = []
    for places in work.batches(np.column_stack([found.one, found.other]), _AT_ONCE):
        pairs += _by_names(places.tolist(), rows, profiles, rarity)
    work.counts |= {"entities_looked_at": len(rows), "names_compared": len(found.one)}
    pairs = [_by_neighbours(pair, context.snapshot) for pair in pairs]
    pairs = sorted(pairs, key=_order)[:_MOST_LOOKED_INTO]
    least = context.settings.garden.review_at
    read = _by_sentences([pair for pair in pairs if pair.probability >= least], context)
    return sorted(read, key=_order), found.cut


def _order(pair: EntityMatch) -> tuple[float, str, str]:
    return -pair.odds, pair.one.id, pair.other.id


def _thing(row: Entity) -> Thing:
    details = () if row.description is None else (row.description,)
    return Thing(names=(row.name, *row.aliases[:_ALIASES]), details=details)


def _by_names(
    places: Sequence[tuple[int, int]],
    rows: Sequence[Entity],
    profiles: Sequence[MatchProfile],
    rarity: Rarity,
) -> list[EntityMatch]:
    """Return the pairs with compatible names, with the odds from names, types and descriptions."""
    found: list[tuple[int, int, NameMatch]] = []
    for one, other in places:
        how = name_match(profiles[one].names, profiles[other].names)
        if how is not None:
            found.append((one, other, how))
    if not found:
        return []
    odds = shipped().odds([measured(profiles[one], profiles[other], rarity) for one, other, _ in found])
    made = (
        _match(rows[one], rows[other], how, float(by_words))
        for (one, other, how), by_words in zip(found, odds, strict=True)
    )
    return [pair for pair in made if pair.odds > _LEAST_ODDS]


def _match(first: Entity, second: Entity, how: NameMatch, by_words: float) -> EntityMatch:
    one, other = sorted((first, second), key=prominence)
    least, most = _BOUNDS[how]
    odds = max(least, min(most, by_words))
    types = {first.type, second.type} - GENERAL
    if len(types) == 2:
        odds += _OTHER_TYPE
    elif types and first.type == second.type:
        odds += _SAME_TYPE
    if by_words < _LEAST_ODDS and first.description and second.description:
        odds += _RELATED  # their descriptions differ
    return EntityMatch(one=one, other=other, how=how, odds=odds)


def prominence(row: Entity) -> tuple[int, int, str]:
    """Sort key of entities: the most mentioned first, then the one with the longer name."""
    return -row.mention_count, -len(row.name), row.id


def _by_neighbours(pair: EntityMatch, snapshot: Snapshot) -> EntityMatch:
    """Adjust the odds by relations: shared neighbours raise them, a relation between both lowers them."""
    one, other = snapshot.node(pair.one.id), snapshot.node(pair.other.id)
    if one is None or other is None:
        return pair
    mine, yours = neighbours(one, RELATION, snapshot), neighbours(other, RELATION, snapshot)
    if other in mine:
        return replace(pair, odds=min(_UNSURE, pair.odds + _RELATED))
    shared = np.intersect1d(mine, yours)
    if not len(shared):
        apart = _NO_SHARED if len(mine) > 3 and len(yours) > 3 else 0.0
        return replace(pair, odds=pair.odds + apart)
    degrees = snapshot.adjacency.degrees(shared)
    gained = sum(_PER_NEIGHBOUR / log2(2 + int(degree)) for degree in degrees)
    return replace(pair, odds=pair.odds + min(_MOST_OF_NEIGHBOURS, gained), shared=len(shared))


def neighbours(node: int, kind: int, snapshot: Snapshot) -> Nodes:
    """Return the distinct neighbours of a node by active edges of one kind, ascending."""
    around = snapshot.adjacency.expand(np.array([node]))
    edges = around.halves[:_MOST_NEIGHBOURS] >> 1
    wanted = (snapshot.edges.kind[edges] == kind) & (snapshot.edges.state[edges] <= 0)
    wanted &= ~snapshot.is_likely_same(edges)
    return np.unique(around.neighbors[:_MOST_NEIGHBOURS][wanted]).astype(np.int64)


def _by_sentences(pairs: Sequence[EntityMatch], context: PhaseContext) -> list[EntityMatch]:
    """Lower the odds of pairs that a sentence names side by side."""
    snapshot = context.snapshot
    together: dict[int, list[str]] = {}
    for place, pair in enumerate(pairs):
        one, other = snapshot.node(pair.one.id), snapshot.node(pair.other.id)
        if one is not None and other is not None:
            mine, yours = neighbours(one, MENTION, snapshot), neighbours(other, MENTION, snapshot)
            both = np.intersect1d(mine, yours)
            together[place] = [snapshot.nodes.ids[node] for node in both[-_MOST_READ:]]
    wanted = sorted({id for ids in together.values() for id in ids})
    texts = {chunk.id: chunk.text for chunk in context.graph.chunks(wanted)} if wanted else {}
    return [
        _by_texts(pair, [texts[id] for id in together.get(place, ()) if id in texts])
        for place, pair in enumerate(pairs)
    ]


def _by_texts(pair: EntityMatch, texts: Sequence[str]) -> EntityMatch:
    names = sorted((pair.one.name.casefold(), pair.other.name.casefold()), key=len)
    if not any(_names_both(text, *names) for text in texts):
        return pair
    return replace(pair, odds=min(_UNSURE, pair.odds + _SIDE_BY_SIDE))


def _names_both(text: str, shorter: str, longer: str) -> bool:
    """Say whether a sentence has both names apart, not one within the other or in brackets after it."""
    for start, end in sentence_spans(text):
        sentence = text[start:end].casefold()
        if longer not in sentence:
            continue
        rest = sentence.replace(f"{longer} ({shorter})", "").replace(f"{shorter} ({longer})", "")
        if longer in rest and shorter in rest.replace(longer, ""):
            return True
    return False
