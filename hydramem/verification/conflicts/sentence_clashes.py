"""Candidates for conflicts: sentences of different chunks, and relations of functional types.

Sentences come from links that `remember` and models stored (`may_supersede`, `contradicts`), and from the
pair classifier, which reads a bounded number of near pairs.
"""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby

import numpy as np
from numpy.typing import NDArray

from hydramem.core.results.verdicts import ConflictKind
from hydramem.core.row_types import Chunk
from hydramem.core.time import now
from hydramem.graph.snapshot.columns import microseconds
from hydramem.graph.snapshot.snapshot import LINK, RELATION, STATES, Snapshot
from hydramem.llm.pair_classifier import JudgePairs, bounds
from hydramem.storage.chunk_filter import ChunkFilter
from hydramem.text.dates.dates_in_text import dates_in
from hydramem.text.decisive_marks import marks
from hydramem.text.shown_text import one_line
from hydramem.verification.conflicts.near_sentences import (
    ChunkSentence,
    SentencePair,
    in_order,
    overlap_in_time,
)

_NOW = ChunkFilter()
_LINKS = ("may_supersede", "contradicts")
_MOST_TEXT = 600

# From which probability sentences are said to contradict each other: likelier than not.
_LIKELY = 0.5

# More rivals than these of one sentence are a series, such as of measurements, not a dispute.
_MOST_VALUES = 3

# Rivals of one relation that are returned.
_MOST_OF_ONE = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class SentenceClash:
    """Two sentences that contradict each other, the older first.

    Attributes:
        kind: What differs between them.
        score: How likely it is that both cannot hold, times the confidence of the less certain one.
        by: What found it: `link` or `classifier`.
    """

    older: ChunkSentence
    newer: ChunkSentence
    kind: ConflictKind
    score: float
    by: str


def linked_clashes(
    chunks: Mapping[str, Chunk], snapshot: Snapshot, where: ChunkFilter
) -> tuple[SentenceClash, ...]:
    """Return the memories that links call contradictory, most certain first.

    Args:
        chunks: The chunks that are compared, by id.
        snapshot: The graph, with the links.
        where: The states of links, and when they were believed; now by default.
    """
    edges = snapshot.edges
    codes = [code for code, name in enumerate(edges.types) if name in _LINKS]
    believed = snapshot.edge_mask(known_at=where.known_at or now(), states=where.states, kinds=(LINK,))
    mask = believed & np.isin(edges.type, codes)
    found = []
    for row in np.flatnonzero(mask).tolist():
        ends = [chunks.get(snapshot.nodes.ids[int(end[row])]) for end in (edges.source, edges.target)]
        newer, older = ends
        if newer is not None and older is not None and overlap_in_time(newer, older):
            sides = [
                ChunkSentence(chunk=each, text=one_line(each.text, _MOST_TEXT)) for each in (older, newer)
            ]
            if edges.types[int(edges.type[row])] == "contradicts":
                sides = list(in_order(*sides))
            found.append(_clash(sides[0], sides[1], min(1.0, float(edges.weight[row])), "link"))
    return tuple(sorted(found, key=_rank))


def settled_pairs(snapshot: Snapshot, known_at: datetime) -> frozenset[frozenset[str]]:
    """Return the pairs of chunks, by their ids, of which somebody had said at a time what holds."""
    edges, ids = snapshot.edges, snapshot.nodes.ids
    codes = [code for code, name in enumerate(edges.types) if name in _LINKS]
    settled = (edges.kind == LINK) & np.isin(edges.type, codes) & (edges.state == STATES.index("superseded"))
    settled &= edges.retired_at <= microseconds(known_at, 0)
    return frozenset(
        frozenset(ids[int(end[row])] for end in (edges.source, edges.target))
        for row in np.flatnonzero(settled).tolist()
    )


def judged_clashes(pairs: Sequence[SentencePair], judge: JudgePairs) -> tuple[SentenceClash, ...]:
    """Return the pairs of sentences that the classifier calls contradictory, most certain first.

    Raises:
        ModelError: The classifier failed.
    """
    least = max(bounds().supersedes, _LIKELY)
    ordered = sorted(pairs, key=lambda pair: (pair.newer.chunk.id, pair.newer.text))
    found: list[SentenceClash] = []
    for _, group in groupby(ordered, key=lambda pair: (pair.newer.chunk.id, pair.newer.text)):
        same = list(group)
        judged = judge(same[0].newer.text, [pair.older.text for pair in same])
        for pair, judgement in zip(same, judged, strict=True):
            if judgement is not None and judgement.supersedes >= least:
                likely = min(judgement.supersedes, _turned_round(pair, judge))
                if likely >= least:
                    found.append(_clash(pair.older, pair.newer, likely, "classifier"))
    return tuple(sorted(_without_series(found), key=_rank))


def _turned_round(pair: SentencePair, judge: JudgePairs) -> float:
    """Return how likely the sentences contradict each other in the other order, where nothing orders them.

    A document is as old as its ingest, so that its sentences may be older than those said before.
    """
    older, newer = pair.older, pair.newer
    if "passage" not in (older.chunk.kind, newer.chunk.kind) and older.said_at < newer.said_at:
        return 1.0
    (judgement,) = judge(older.text, [newer.text])
    return 0.0 if judgement is None else judgement.supersedes


def _without_series(found: Sequence[SentenceClash]) -> list[SentenceClash]:
    often = Counter(side for clash in found for side in _sides_of(clash))
    return [clash for clash in found if all(often[side] <= _MOST_VALUES for side in _sides_of(clash))]


def _sides_of(clash: SentenceClash) -> tuple[tuple[str, str], tuple[str, str]]:
    return (clash.older.chunk.id, clash.older.text), (clash.newer.chunk.id, clash.newer.text)


def _clash(older: ChunkSentence, newer: ChunkSentence, probability: float, by: str) -> SentenceClash:
    score = round(probability * min(older.chunk.confidence, newer.chunk.confidence), 4)
    return SentenceClash(older=older, newer=newer, kind=_kind(older, newer), score=score, by=by)


def _kind(older: ChunkSentence, newer: ChunkSentence) -> ConflictKind:
    """Say what differs between two sentences, by their marks; `statement` where these are equal."""
    mine, yours = marks(older.text), marks(newer.text)
    if mine.negations != yours.negations:
        return "negation"
    days = [{(day.start, day.end) for day in dates_in(each.text, each.said_at)} for each in (older, newer)]
    if all(days) and days[0] != days[1]:
        return "date"
    if mine.numbers != yours.numbers:
        return "number"
    return "statement" if mine.names == yours.names else "name"


def _rank(clash: SentenceClash) -> tuple[float, str, str]:
    return -clash.score, clash.newer.chunk.id, clash.older.chunk.id


@dataclass(frozen=True, slots=True, kw_only=True)
class Rivals:
    """Two relations of a functional type that hold at one moment with different objects, by their ids.

    Attributes:
        subject: The node of the end that they share.
        ends: For each relation, the id of the entity that it is stored at.
        weight: Confidence of the less certain of them.
    """

    subject: int
    ids: tuple[str, str]
    ends: tuple[str, str]
    type: str
    weight: float


def rivals(
    snapshot: Snapshot,
    types: Collection[str],
    *,
    node: int | None = None,
    where: ChunkFilter = _NOW,
    limit: int,
) -> tuple[tuple[Rivals, ...], bool]:
    """Return pairs of relations that cannot both hold, most certain first.

    Args:
        types: Relation types with one object at a time.
        node: Only relations at this entity; None for all.
        where: The states of relations, when both hold (at any one moment by default), and when they were
            believed; now by default.

    Returns:
        The pairs, and whether there are more.
    """
    rows, subjects, objects = _sides(snapshot, types, node, where)
    edges = snapshot.edges
    order = np.lexsort((edges.valid_from[rows], subjects, edges.type[rows]))
    rows, subjects, objects = rows[order], subjects[order], objects[order]
    starts, ends = edges.valid_from[rows], edges.valid_to[rows]
    found = [
        Rivals(
            subject=int(subjects[one]),
            ids=(_id(snapshot, rows[one]), _id(snapshot, rows[other])),
            ends=(_stored_at(snapshot, rows[one]), _stored_at(snapshot, rows[other])),
            type=edges.types[int(edges.type[rows[one]])],
            weight=float(min(edges.weight[rows[one]], edges.weight[rows[other]])),
        )
        for begin, end in _groups(edges.type[rows], subjects)
        for one, other in _overlapping(starts, ends, objects, begin, end)
    ]
    found.sort(key=lambda pair: (-pair.weight, pair.ids))
    distinct = list({frozenset(pair.ids): pair for pair in reversed(found)}.values())[::-1]
    return tuple(distinct[:limit]), len(distinct) > limit


def _sides(
    snapshot: Snapshot, types: Collection[str], node: int | None, where: ChunkFilter
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int32]]:
    """Return rows, subjects and objects of relations; bidirectional ones with either end as subject."""
    edges = snapshot.edges
    codes = [code for code, name in enumerate(edges.types) if name in types]
    believed = snapshot.edge_mask(
        at=where.at, known_at=where.known_at or now(), states=where.states, kinds=(RELATION,)
    )
    mask = believed & np.isin(edges.type, codes)
    # An inferred relation contradicts nothing.
    rows = np.flatnonzero(mask & ~edges.supposed)
    both = rows[edges.bidirectional[rows]]
    every = np.concatenate([rows, both])
    subjects = np.concatenate([edges.source[rows], edges.target[both]])
    objects = np.concatenate([edges.target[rows], edges.source[both]])
    if node is not None:
        # The rival of a relation at the entity may have another object: the whole group is kept.
        own = np.unique(subjects[(subjects == node) | (objects == node)])
        kept = np.isin(subjects, own)
        every, subjects, objects = every[kept], subjects[kept], objects[kept]
    return every, subjects, objects


def _groups(types: NDArray[np.int32], subjects: NDArray[np.int32]) -> Iterator[tuple[int, int]]:
    """Yield the ranges of rows with one type and subject, where there are several."""
    if not len(types):
        return
    changes = np.flatnonzero((types[1:] != types[:-1]) | (subjects[1:] != subjects[:-1])) + 1
    bounds = np.concatenate([[0], changes, [len(types)]])
    for place in np.flatnonzero(np.diff(bounds) > 1).tolist():
        yield int(bounds[place]), int(bounds[place + 1])


def _overlapping(
    starts: NDArray[np.int64], ends: NDArray[np.int64], objects: NDArray[np.int32], begin: int, end: int
) -> Iterator[tuple[int, int]]:
    """Yield pairs of a group with different objects that hold at one moment, a bounded number."""
    count = 0
    for one in range(begin, end):
        for other in range(one + 1, end):
            if starts[other] >= ends[one] or count >= _MOST_OF_ONE:
                break  # they are in order of their beginnings
            if objects[one] != objects[other] and starts[one] < ends[other]:
                count += 1
                yield one, other


def _id(snapshot: Snapshot, row: np.int64) -> str:
    return bytes(snapshot.edges.ids[row]).decode()


def _stored_at(snapshot: Snapshot, row: np.int64) -> str:
    return snapshot.nodes.ids[int(snapshot.edges.source[row])]
