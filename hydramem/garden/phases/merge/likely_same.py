"""Names that are likely to be of one thing, though nothing shows it surely enough for a merge.

A note calls things by short names where documents spell them out, so the shorter name must stand in a
memory. The longer names that it may be short for compete: each gets its share of the odds, and a part is left
for none of them. A misspelling comes once; what is written the same way again is a name of its own.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from hydramem.core.row_types import Entity
from hydramem.garden.phases.merge.candidate_blocks import candidates_of
from hydramem.garden.phases.merge.entity_matches import neighbours
from hydramem.garden.proposals.exclusions import is_told_apart
from hydramem.garden.proposals.phase_context import PhaseWork
from hydramem.graph.snapshot.snapshot import MENTION, RELATION, Snapshot
from hydramem.ingest.knowledge.resolve import GENERAL
from hydramem.text.names.name_variants import (
    NameForm,
    NameVariant,
    Variant,
    ends,
    is_abbreviation,
    keys,
    name_form,
    shortened,
    variant,
)

_ODDS: Mapping[Variant, Mapping[float, float]] = {
    "initials": {1.0: 3.0, 0.7: 1.5, 0.6: 0.7, 0.5: 0.7},
    "misspelled": {1.0: 2.0, 0.7: 1.5, 0.6: 1.0, 0.5: 0.2, 0.3: 0.5},
    "part": {1.0: 1.5, 0.7: 1.0, 0.6: 0.4, 0.5: 0.5, 0.3: 0.5},
    "described": {1.0: 0.4, 0.7: 0.3, 0.6: 0.3},
}
"""Odds that a name stands for another rather than for none that is known, by how it does and how alike the
words are."""

_TWO_LETTERS, _WRITTEN_AGAIN, _OTHER_TYPE, _ELSEWHERE = 0.5, 0.25, 0.2, 0.3
"""Factors of the odds: initials of two letters; a misspelling that comes more than once; another kind of
thing; a longer name that no memory has, only documents."""

_LEAST, _MOST = 0.1, 0.75
"""Probabilities: below the first no link is made, and names alone show no more than the second."""

_EACH, _MOST_RIVALS, _MOST_NEAR = 4, 24, 2000
_ALIASES = 8
_NONE: Mapping[str, str] = MappingProxyType({})
_AT_ONCE = 4000
_TYPES_APART = frozenset({"date"})


@dataclass(frozen=True, slots=True, kw_only=True)
class LikelyPair:
    """Two entities that are likely to be the same thing.

    Attributes:
        short, long: The one whose name stands for that of the other, and that other.
        how: In which way it does.
        probability: That they are the same.
    """

    short: Entity
    long: Entity
    how: Variant
    probability: float


def likely_pairs(
    rows: Sequence[Entity], work: PhaseWork, *, replaced: Mapping[str, str] = _NONE
) -> list[LikelyPair]:
    """Return the pairs of entities that are likely to be the same thing.

    Args:
        rows: The entities of the project, as the merges of this run leave them.
        work: The phase; what a person told apart is left out.
        replaced: The entity that replaces each merged one, by their ids.
    """
    noted, known = _mentioned(rows, work.context.snapshot, replaced)
    kept = known & np.array([row.type not in _TYPES_APART for row in rows], dtype=np.bool_)
    places = np.flatnonzero(kept).tolist()
    things, in_notes = [rows[place] for place in places], noted[places]
    forms = [[name_form(name) for name in (row.name, *row.aliases[:_ALIASES])] for row in things]
    apart = _Apart(work.context.snapshot, replaced)
    rivals: dict[int, list[_Rival]] = defaultdict(list)
    for part in work.batches(_candidates(forms, in_notes), _AT_ONCE):
        for one, other in part.tolist():
            found = _best((one, other), forms, things, in_notes)
            if found is not None and not apart(things[one], things[other]):
                rivals[found[0]].append(found[1])
    pairs = [
        LikelyPair(short=things[short], long=things[rival.place], how=rival.how, probability=probability)
        for short, several in rivals.items()
        for probability, rival in shared_out(several)
    ]
    return sorted(pairs, key=lambda pair: (-pair.probability, pair.short.id, pair.long.id))


class _Apart:
    """Says which entities are no candidates: told apart, related, or named by one text.

    One text that has both names tells two things apart, or joins them by itself.
    """

    def __init__(self, snapshot: Snapshot, replaced: Mapping[str, str]) -> None:
        self._snapshot = snapshot
        self._parts: dict[str, list[str]] = defaultdict(list)
        for gone, kept in replaced.items():
            self._parts[kept].append(gone)

    def __call__(self, one: Entity, other: Entity) -> bool:
        if is_told_apart(one, other):
            return True
        mine, yours = self._nodes(one), self._nodes(other)
        related = self._around(mine, RELATION)
        return not related.isdisjoint(yours) or not self._around(mine, MENTION).isdisjoint(
            self._around(yours, MENTION)
        )

    def _nodes(self, row: Entity) -> list[int]:
        found = (self._snapshot.node(id) for id in (row.id, *self._parts.get(row.id, ())))
        return [node for node in found if node is not None]

    def _around(self, nodes: Sequence[int], kind: int) -> set[int]:
        return {other for node in nodes for other in neighbours(node, kind, self._snapshot).tolist()}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Rival:
    """A name that another may stand for.

    Attributes:
        place: Of its entity.
        odds: That it is this one, against none that is known.
        words: Its telling words.
    """

    place: int
    odds: float
    how: Variant
    words: frozenset[str]


def _candidates(forms: Sequence[Sequence[NameForm]], in_notes: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Return the places of entities worth a comparison, shape (pairs, 2)."""
    alone = {form.words[0] for several in forms for form in several if len(form.words) == 1}

    def keys_of(form: NameForm) -> Iterator[str]:
        yield from keys(form)
        yield from (f"e {end}" for end in ends(form) if end in alone)

    by_words = candidates_of(
        ({key for form in several for key in keys_of(form)} for several in forms),
        limit=max(10_000, min(300_000, 4 * len(forms))),
    )
    of_words = np.column_stack([by_words.one, by_words.other])
    of_initials = np.array(list(_by_initials(forms, in_notes)), dtype=np.int64).reshape(-1, 2)
    return np.unique(np.concatenate([of_words, of_initials]), axis=0)


def _by_initials(
    forms: Sequence[Sequence[NameForm]], in_notes: NDArray[np.bool_]
) -> Iterator[tuple[int, int]]:
    """Yield short names of memories with what they may be the initials of: of many, with memories' own."""
    short: dict[str, list[int]] = defaultdict(list)
    for place in np.flatnonzero(in_notes).tolist():
        for letters in {each for form in forms[place] for each in shortened(form)}:
            short[letters].append(place)
    long: dict[str, list[int]] = defaultdict(list)
    by_first: dict[str, list[int]] = defaultdict(list)
    for place, several in enumerate(forms):
        for letters in {each for form in several for each in form.initials if each in short}:
            long[letters].append(place)
        for first in {form.words[0][0] for form in several if form.words} if in_notes[place] else ():
            by_first[first].append(place)
    for letters, places in short.items():
        shorts = [forms[place][0] for place in places]
        near = by_first.get(letters[0], ())[:_MOST_NEAR]
        cut = [at for at in near if any(is_abbreviation(one, form) for one in shorts for form in forms[at])]
        rivals = (
            long[letters]
            if len(long[letters]) <= _MOST_RIVALS
            else [place for place in long[letters] if in_notes[place]]
        )
        for found in (rivals, cut):
            if len(found) <= _MOST_RIVALS and len(places) <= _MOST_RIVALS:
                yield from ((min(pair), max(pair)) for pair in product(places, found) if pair[0] != pair[1])


def _mentioned(
    rows: Sequence[Entity], snapshot: Snapshot, replaced: Mapping[str, str]
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Say for each entity whether an active memory mentions it, and whether any active text does."""
    edges, nodes = snapshot.edges, snapshot.nodes
    mentions = np.flatnonzero((edges.kind == MENTION) & snapshot.node_mask()[edges.source])
    passages = [code for code, name in enumerate(nodes.types) if name == "passage"]
    of_notes = mentions[~np.isin(nodes.type[edges.source[mentions]], passages)]
    # An entity that the snapshot lacks has the last place, which nothing mentions.
    known, noted = np.zeros(snapshot.size + 1, dtype=np.bool_), np.zeros(snapshot.size + 1, dtype=np.bool_)
    known[edges.target[mentions]] = True
    noted[edges.target[of_notes]] = True

    def node(id: str) -> int:
        found = snapshot.node(id)
        return snapshot.size if found is None else found

    for gone, kept in replaced.items():
        known[node(kept)] |= known[node(gone)]
        noted[node(kept)] |= noted[node(gone)]
    at = [node(row.id) for row in rows]
    return noted[at], known[at]


def _best(
    pair: tuple[int, int],
    forms: Sequence[Sequence[NameForm]],
    things: Sequence[Entity],
    in_notes: NDArray[np.bool_],
) -> tuple[int, _Rival] | None:
    """Return which of two entities may be short for the other, in the likeliest way; None for neither."""
    best: tuple[int, _Rival] | None = None
    for mine, yours in product(forms[pair[0]], forms[pair[1]]):
        way = variant(mine, yours)
        if way is None:
            continue
        short, long = pair if way[1] else pair[::-1]
        form, other = (mine, yours) if way[1] else (yours, mine)
        odds = _odds(way[0], form, things[short], things[long])
        odds *= 1.0 if in_notes[long] else _ELSEWHERE
        if in_notes[short] and (best is None or odds > best[1].odds):
            best = short, _Rival(place=long, odds=odds, how=way[0].how, words=frozenset(other.words))
    return best


def _odds(way: NameVariant, short: NameForm, one: Entity, other: Entity) -> float:
    """Return the odds that a name stands for another."""
    odds = _ODDS[way.how][way.likeness]
    if way.how == "initials" and sum(map(str.isalpha, short.whole)) < 3 and short.whole.isalpha():
        odds *= _TWO_LETTERS
    if way.how == "misspelled" and way.likeness < 1.0 and min(one.mention_count, other.mention_count) > 1:
        odds *= _WRITTEN_AGAIN
    types = {one.type, other.type} - GENERAL
    return odds * _OTHER_TYPE if len(types) == 2 else odds


def shared_out(rivals: Sequence[_Rival]) -> list[tuple[float, _Rival]]:
    """Return the likeliest of the names that one may stand for, with their probabilities.

    Names of which one has all words of the other count as one rival.
    """
    ordered = sorted(rivals, key=lambda rival: (-rival.odds, rival.place))
    families: list[list[frozenset[str]]] = []
    total = 1.0
    for rival in ordered:
        family = next(
            (each for each in families if any(rival.words <= one or one <= rival.words for one in each)), None
        )
        if family is None:
            families.append([rival.words])
            total += rival.odds
        else:
            family.append(rival.words)
    likely = [(min(_MOST, rival.odds / total), rival) for rival in ordered[:_EACH]]
    return [each for each in likely if each[0] >= _LEAST]
