"""Sentences of different chunks that contradict each other, found in one pass over the chunks.

Sentences are put together by their frame and all but one of their slots, so that only those which differ in
that one place meet: the work is in the number of sentences, never in the number of pairs.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hydramem.core.row_types import Chunk
from hydramem.core.time import now
from hydramem.graph.snapshot.snapshot import RELATION, Snapshot
from hydramem.ingest.legacy_update_rules.contrast_frames import (
    Contrast,
    Saying,
    comparable,
    contrast,
    outlines,
    read,
)
from hydramem.storage.chunk_filter import covers

# More values than these of one statement are a series of measurements, not a dispute.
_MOST_VALUES = 4
_CERTAINTY = {"negation": 0.9, "number": 0.8, "date": 0.8, "name": 0.6}


@dataclass(frozen=True, slots=True, kw_only=True)
class ChunkSentence:
    """A sentence and the chunk that it stands in."""

    chunk: Chunk
    saying: Saying


@dataclass(frozen=True, slots=True, kw_only=True)
class SentenceClash:
    """Two sentences that contradict each other, the older first."""

    older: ChunkSentence
    newer: ChunkSentence
    contrast: Contrast
    score: float


def sentence_clashes(chunks: Iterable[Chunk]) -> tuple[SentenceClash, ...]:
    """Return the sentences that contradict each other, most certain first; each pair once.

    Of several sentences that say different things of one place, each is told against the newest.

    Args:
        chunks: What may be set against each other: of one project, believed now.
    """
    outlined: dict[str, list[tuple[Chunk, str]]] = defaultdict(list)
    for chunk in chunks:
        for sentence, outline in outlines(chunk.text):
            outlined[outline].append((chunk, sentence))
    found = [clash for alike in outlined.values() if len(alike) > 1 for clash in _among(alike)]
    return tuple(sorted(found, key=lambda one: (-one.score, one.newer.chunk.id)))


def _among(alike: Sequence[tuple[Chunk, str]]) -> Iterator[SentenceClash]:
    groups: dict[tuple[object, ...], list[ChunkSentence]] = defaultdict(list)
    for chunk, sentence in alike:
        saying = read(sentence)
        if saying is not None:
            about = _about(chunk, saying)
            for key in comparable(saying):
                groups[(*about, *key)].append(ChunkSentence(chunk=chunk, saying=saying))
    told = set[tuple[str, str, str, str]]()
    for group in groups.values():
        for clash in _within(group) if len(group) > 1 else ():
            one, other = clash.older, clash.newer
            pair = (one.chunk.id, one.saying.text, other.chunk.id, other.saying.text)
            if pair not in told:
                told.add(pair)
                yield clash


def _about(chunk: Chunk, saying: Saying) -> tuple[object, ...]:
    """Return what must be equal for two sentences to be about one thing, beside their words.

    What names no subject takes it from the headings above it, or else from its document; what is said of the
    speaker, from who speaks.
    """
    headings = tuple(heading.casefold() for heading in chunk.heading_path) or (chunk.document,)
    context = () if saying.named else headings
    speaker = chunk.author if saying.speaks else None
    happened = chunk.happened_at if chunk.kind == "event" else None
    return (chunk.project, chunk.scope, context, speaker, happened)


def _within(group: list[ChunkSentence]) -> Iterator[SentenceClash]:
    ordered = sorted(group, key=lambda said: (_said_at(said.chunk), said.chunk.id))
    newest = ordered[-1]
    others: dict[tuple[object, ...], ChunkSentence] = {}
    for said in ordered[:-1]:
        others[(said.saying.negated, *(slot.value for slot in said.saying.slots))] = said
    if len(others) >= _MOST_VALUES:
        return
    for said in others.values():
        clash = contrast(said.saying, newest.saying)
        if clash is not None and said.chunk.id != newest.chunk.id and _together(said.chunk, newest.chunk):
            confidence = min(said.chunk.confidence, newest.chunk.confidence)
            score = round(_CERTAINTY[clash.kind] * confidence, 4)
            yield SentenceClash(older=said, newer=newest, contrast=clash, score=score)


def _said_at(chunk: Chunk) -> object:
    return chunk.happened_at or chunk.times.recorded_at


def _together(one: Chunk, other: Chunk) -> bool:
    """Say whether two chunks hold at some moment both."""
    mine, yours = one.times, other.times
    begins = max(filter(None, (mine.valid_from, yours.valid_from)), default=None)
    ends = min(filter(None, (mine.valid_to, yours.valid_to)), default=None)
    return begins is None or ends is None or covers(None, ends, begins)


_MOST_OF_ONE = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Rivals:
    """Two relations, by their ids.

    Attributes:
        subject: The node of the end that they share.
        ends: For each relation, the id of the entity that it is stored at.
        weight: How far the less certain of them is believed.
    """

    subject: int
    ids: tuple[str, str]
    ends: tuple[str, str]
    type: str
    weight: float


def rivals(
    snapshot: Snapshot, types: Collection[str], *, node: int | None = None, limit: int
) -> tuple[tuple[Rivals, ...], bool]:
    """Return pairs of believed relations that cannot both hold, most believed first.

    Args:
        snapshot: A project's graph.
        types: Relation types with one object at a time.
        node: Only relations at this entity; None looks at all.
        limit: Most pairs.

    Returns:
        The pairs, and whether there are more.
    """
    rows, subjects, objects = _sides(snapshot, types, node)
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
    snapshot: Snapshot, types: Collection[str], node: int | None
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int32]]:
    """Return relations as seen from their subjects; those that hold both ways from both ends."""
    edges = snapshot.edges
    codes = [code for code, name in enumerate(edges.types) if name in types]
    mask = snapshot.edge_mask(known_at=now(), kinds=(RELATION,)) & np.isin(edges.type, codes)
    # What is only supposed contradicts nothing: it gives way.
    rows = np.flatnonzero(mask & ~edges.supposed)
    both = rows[edges.bidirectional[rows]]
    every = np.concatenate([rows, both])
    subjects = np.concatenate([edges.source[rows], edges.target[both]])
    objects = np.concatenate([edges.target[rows], edges.source[both]])
    if node is not None:
        # What clashes with a relation at the entity may have another object: its whole group is looked at.
        own = np.unique(subjects[(subjects == node) | (objects == node)])
        kept = np.isin(subjects, own)
        every, subjects, objects = every[kept], subjects[kept], objects[kept]
    return every, subjects, objects


def _groups(types: NDArray[np.int32], subjects: NDArray[np.int32]) -> Iterator[tuple[int, int]]:
    """Yield where relations of one type and subject begin and end, for those that have several."""
    if not len(types):
        return
    changes = np.flatnonzero((types[1:] != types[:-1]) | (subjects[1:] != subjects[:-1])) + 1
    bounds = np.concatenate([[0], changes, [len(types)]])
    for place in np.flatnonzero(np.diff(bounds) > 1).tolist():
        yield int(bounds[place]), int(bounds[place + 1])


def _overlapping(
    starts: NDArray[np.int64], ends: NDArray[np.int64], objects: NDArray[np.int32], begin: int, end: int
) -> Iterator[tuple[int, int]]:
    """Yield pairs of a group with different objects that hold at one moment both, at most so many."""
    told = 0
    for one in range(begin, end):
        for other in range(one + 1, end):
            if starts[other] >= ends[one] or told >= _MOST_OF_ONE:
                break  # they are in order of their beginnings
            if objects[one] != objects[other] and starts[one] < ends[other]:
                told += 1
                yield one, other


def _id(snapshot: Snapshot, row: np.int64) -> str:
    return bytes(snapshot.edges.ids[row]).decode()


def _stored_at(snapshot: Snapshot, row: np.int64) -> str:
    return snapshot.nodes.ids[int(snapshot.edges.source[row])]
