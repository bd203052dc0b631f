"""Candidates for conflicts: sentences of different chunks, and relations of functional types.

Sentences are grouped by their frame and all but one of their slots, so that only sentences that differ in one
place are compared: the cost grows with the number of sentences, not of pairs.
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

# Rivals of one relation that are returned.
_MOST_OF_ONE = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class ChunkSentence:
    """A sentence and the chunk that contains it."""

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

    Of several sentences that differ in one place, each is paired with the newest.

    Args:
        chunks: The chunks to compare: of one project, active now.
    """
    outlined: dict[str, list[tuple[Chunk, str]]] = defaultdict(list)
    for chunk in chunks:
        for sentence, outline in outlines(chunk.text):
            outlined[outline].append((chunk, sentence))
    found = [clash for same in outlined.values() if len(same) > 1 for clash in _clashes_of_outline(same)]
    return tuple(sorted(found, key=lambda one: (-one.score, one.newer.chunk.id)))


def _clashes_of_outline(sentences: Sequence[tuple[Chunk, str]]) -> Iterator[SentenceClash]:
    groups: dict[tuple[object, ...], list[ChunkSentence]] = defaultdict(list)
    for chunk, sentence in sentences:
        saying = read(sentence)
        if saying is not None:
            about = _topic_key(chunk, saying)
            for key in comparable(saying):
                groups[(*about, *key)].append(ChunkSentence(chunk=chunk, saying=saying))
    seen = set[tuple[str, str, str, str]]()
    for group in groups.values():
        for clash in _clashes_of_group(group) if len(group) > 1 else ():
            one, other = clash.older, clash.newer
            pair = (one.chunk.id, one.saying.text, other.chunk.id, other.saying.text)
            if pair not in seen:
                seen.add(pair)
                yield clash


def _topic_key(chunk: Chunk, saying: Saying) -> tuple[object, ...]:
    """Return what must be equal for two sentences to be about one thing, apart from their words.

    A sentence that names no subject takes it from the headings above it, else from its document; one in the
    first person, from its speaker.
    """
    headings = tuple(heading.casefold() for heading in chunk.heading_path) or (chunk.document,)
    context = () if saying.named else headings
    speaker = chunk.author if saying.speaks else None
    happened = chunk.happened_at if chunk.kind == "event" else None
    return (chunk.project, chunk.scope, context, speaker, happened)


def _clashes_of_group(group: list[ChunkSentence]) -> Iterator[SentenceClash]:
    ordered = sorted(group, key=lambda sentence: (_said_at(sentence.chunk), sentence.chunk.id))
    newest = ordered[-1]
    others: dict[tuple[object, ...], ChunkSentence] = {}
    for sentence in ordered[:-1]:
        others[(sentence.saying.negated, *(slot.value for slot in sentence.saying.slots))] = sentence
    if len(others) >= _MOST_VALUES:
        return
    for sentence in others.values():
        clash, one, other = contrast(sentence.saying, newest.saying), sentence.chunk, newest.chunk
        if clash is not None and one.id != other.id and _overlap_in_time(one, other):
            score = round(_CERTAINTY[clash.kind] * min(one.confidence, other.confidence), 4)
            yield SentenceClash(older=sentence, newer=newest, contrast=clash, score=score)


def _said_at(chunk: Chunk) -> object:
    return chunk.happened_at or chunk.times.recorded_at


def _overlap_in_time(one: Chunk, other: Chunk) -> bool:
    """Say whether two chunks hold at one moment."""
    mine, yours = one.times, other.times
    begins = max(filter(None, (mine.valid_from, yours.valid_from)), default=None)
    ends = min(filter(None, (mine.valid_to, yours.valid_to)), default=None)
    return begins is None or ends is None or covers(None, ends, begins)


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
    snapshot: Snapshot, types: Collection[str], *, node: int | None = None, limit: int
) -> tuple[tuple[Rivals, ...], bool]:
    """Return pairs of active relations that cannot both hold, most certain first.

    Args:
        types: Relation types with one object at a time.
        node: Only relations at this entity; None for all.

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
    """Return rows, subjects and objects of relations; bidirectional ones with either end as subject."""
    edges = snapshot.edges
    codes = [code for code, name in enumerate(edges.types) if name in types]
    mask = snapshot.edge_mask(known_at=now(), kinds=(RELATION,)) & np.isin(edges.type, codes)
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
