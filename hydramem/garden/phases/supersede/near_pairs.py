"""Pairs of near memories that the classifier may read, the most promising first.

What is near to many is seldom a version of one of them, so the crowd of a memory takes from the promise of
its pairs. A pair that a link holds already is read once more only where the link leaves open whether the two
say the same.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from hydramem.core.row_types import Chunk, Link, LinkType
from hydramem.garden.phases.supersede.possible_replacements import MAY_SUPERSEDE, beginning
from hydramem.garden.phases.supersede.replacement_probability import crowd_of
from hydramem.garden.proposals.compared_memories import ComparedMemories
from hydramem.garden.proposals.exclusions import is_told_apart
from hydramem.garden.proposals.phase_context import PhaseContext
from hydramem.ingest.knowledge.end_validity import said_at
from hydramem.ingest.memories.compare.neighbours import LEAST_NEAR, compatible_scopes
from hydramem.ingest.memories.consolidate.duplicate_or_update import is_repetition, may_touch
from hydramem.ingest.memories.memory_input import STEADY
from hydramem.ingest.memories.similarity import background, nearness
from hydramem.storage.chunk_filter import ChunkFilter, covers
from hydramem.storage.store import Listing
from hydramem.text.decisive_marks import have_same_words
from hydramem.text.restated_text import SURELY_SAME

_MOST_MEMORIES = 20_000
"""Newest memories that are compared at all: their vectors are held at once."""

LEAST_PROMISE = 0.05
"""Least promise of a pair that is read. Of 5,463 pairs of near memories of two authors 83 % are above it, and
99 % of those that say the same or replace one another; nine of ten of these are among the first half."""

_CROWD = 0.62
"""How much the crowd takes from the promise."""

_NEIGHBOURS = 8
"""Nearest memories of one that are looked at."""

_ROWS_AT_ONCE = 256

_SAYS_WHAT: tuple[LinkType, ...] = (MAY_SUPERSEDE, "supersedes", "duplicates", "extends", "contradicts")
"""Links that say what one memory is to another."""

_OPEN: tuple[LinkType, ...] = (MAY_SUPERSEDE, "duplicates", "extends")
"""Those of them that one reading of the classifier left, when the newer memory was told."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NearPair:
    """Two memories that are near each other.

    Attributes:
        nearness: Of their texts, 0 to 1.
        crowds: Mean nearness of what is near to the newer and to the older.
        nearest: How many of the two have the other as the nearest memory.
        links: What says by now what the one is to the other.
    """

    newer: Chunk
    older: Chunk
    nearness: float
    crowds: tuple[float, float]
    nearest: int
    links: tuple[Link, ...] = ()

    @property
    def promise(self) -> float:
        """How much speaks for reading the pair."""
        return self.nearness - _CROWD * self.crowds[0]


@dataclass(frozen=True, slots=True)
class _Near:
    """The memories nearest to one, nearest first, each with its nearness, and the crowd of that one."""

    others: tuple[tuple[str, float], ...]
    crowd: float


def memories_that_count(context: PhaseContext) -> list[Chunk]:
    """Return the memories of a project that can be compared, newest first."""
    where = ChunkFilter(projects=(context.project,), kinds=STEADY)
    page = context.graph.list_chunks(where, Listing(limit=_MOST_MEMORIES))
    return [row for row in page if covers(None, row.expires_at, context.clock)]


def open_pairs(rows: Sequence[Chunk], compared: ComparedMemories, context: PhaseContext) -> list[NearPair]:
    """Return the pairs that were not compared yet, the most promising first.

    Args:
        rows: The memories of a project that count.
        compared: What earlier runs compared.
        context: Where vectors and links are read.
    """
    chunks = {row.id: row for row in rows}
    links = _links(rows, context)
    near = _neighbours(rows, context)
    found: dict[frozenset[str], NearPair] = {}
    for id, mine in near.items():
        for other, score in mine.others:
            both = frozenset((id, other))
            if both in found or score < LEAST_NEAR:
                continue
            older, newer = sorted((chunks[id], chunks[other]), key=_told)
            pair = NearPair(
                newer=newer,
                older=older,
                nearness=score,
                crowds=(near[newer.id].crowd, near[older.id].crowd),
                nearest=sum(near[one].others[0][0] in both for one in both),
                links=links.get(both, ()),
            )
            was_compared = both <= compared.ids and pair.promise >= compared.down_to
            if not was_compared and pair.promise >= LEAST_PROMISE and _is_open(pair):
                found[both] = pair
    return sorted(found.values(), key=lambda pair: (-pair.promise, pair.newer.id, pair.older.id))


def nearest_to(
    ids: Collection[str], rows: Sequence[Chunk], context: PhaseContext
) -> list[tuple[Chunk, Chunk]]:
    """Return some memories with what is near to them as pairs, the newer first, the nearest pair first.

    Args:
        ids: Of the memories.
        rows: The memories of a project that count.
        context: Where vectors are read.
    """
    chunks = {row.id: row for row in rows}
    found: dict[frozenset[str], float] = {}
    for id, mine in _neighbours(rows, context, of=ids).items():
        found |= {frozenset((id, other)): score for other, score in mine.others if score >= LEAST_NEAR}
    pairs = []
    for both in sorted(found, key=lambda each: (-found[each], sorted(each))):
        older, newer = sorted((chunks[id] for id in both), key=_told)
        if compatible_scopes(newer, older) and may_touch(newer, older) and not is_told_apart(newer, older):
            pairs.append((newer, older))
    return pairs


def _is_open(pair: NearPair) -> bool:
    """Say whether the classifier is to compare two memories; the same words are left to the phase `merge`."""
    newer, older = pair.newer, pair.older
    return (
        all(_leaves_open(link) for link in pair.links)
        and compatible_scopes(newer, older)
        and may_touch(newer, older)
        and not is_repetition(newer, older)
        and not have_same_words(newer.text, older.text)
        and not is_told_apart(newer, older)
    )


def _leaves_open(link: Link) -> bool:
    sure = link.type == "duplicates" and link.weight >= SURELY_SAME
    return link.type in _OPEN and link.state == "active" and not sure


def _links(rows: Sequence[Chunk], context: PhaseContext) -> Mapping[frozenset[str], tuple[Link, ...]]:
    """Return the links of any state that say what one memory is to another, by the ids of both."""
    found: dict[frozenset[str], tuple[Link, ...]] = {}
    for link in context.graph.links([row.id for row in rows]):
        if link.type in _SAYS_WHAT:
            both = frozenset((link.source, link.target))
            found[both] = (*found.get(both, ()), link)
    return found


def _neighbours(
    rows: Sequence[Chunk], context: PhaseContext, of: Collection[str] | None = None
) -> dict[str, _Near]:
    """Return what is nearest to each memory that has a vector, by its id; nothing where there is but one.

    Args:
        rows: The memories.
        context: Where vectors are read.
        of: Ids of those that alone are looked at; None for all.
    """
    vectors = context.vectors.vectors([row.id for row in rows])
    held = [row.id for row in rows if row.id in vectors]
    if len(held) < 2:
        return {}
    least = background(context.embed)
    table = np.stack([vectors[id] for id in held]).astype(np.float32)
    table /= np.maximum(np.linalg.norm(table, axis=1, keepdims=True), 1e-12)
    count = min(_NEIGHBOURS, len(held) - 1)
    found: dict[str, _Near] = {}
    wanted = np.array([place for place, id in enumerate(held) if of is None or id in of], dtype=np.intp)
    for start in range(0, len(wanted), _ROWS_AT_ONCE):
        places = wanted[start : start + _ROWS_AT_ONCE]
        some = [held[place] for place in places]
        cosines = table[places] @ table.T
        cosines[np.arange(len(some)), places] = -np.inf
        best = np.argpartition(-cosines, count - 1, axis=1)[:, :count]
        for id, values, columns in zip(some, cosines, best, strict=True):
            ordered = columns[np.argsort(-values[columns], kind="stable")].tolist()
            scores = [nearness(float(values[at]), least) for at in ordered]
            others = zip((held[at] for at in ordered), scores, strict=True)
            found[id] = _Near(tuple(others), crowd_of(scores))
    return found


def _told(row: Chunk) -> tuple[object, ...]:
    return said_at(row), beginning(row), row.id
