"""Sentences of different chunks that contradict each other, found in one pass over the chunks.

Sentences are put together by their frame and all but one of their slots, so that only those which differ in
that one place meet: the work is in the number of sentences, never in the number of pairs.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from hydramem.core.row_types import Chunk
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
class Said:
    """A sentence and the chunk that it stands in."""

    chunk: Chunk
    saying: Saying


@dataclass(frozen=True, slots=True, kw_only=True)
class Clash:
    """Two sentences that contradict each other, the older first."""

    older: Said
    newer: Said
    contrast: Contrast
    score: float


def clashes(chunks: Iterable[Chunk]) -> tuple[Clash, ...]:
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


def _among(alike: Sequence[tuple[Chunk, str]]) -> Iterator[Clash]:
    groups: dict[tuple[object, ...], list[Said]] = defaultdict(list)
    for chunk, sentence in alike:
        saying = read(sentence)
        if saying is not None:
            about = _about(chunk, saying)
            for key in comparable(saying):
                groups[(*about, *key)].append(Said(chunk=chunk, saying=saying))
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


def _within(group: list[Said]) -> Iterator[Clash]:
    ordered = sorted(group, key=lambda said: (_said_at(said.chunk), said.chunk.id))
    newest = ordered[-1]
    others: dict[tuple[object, ...], Said] = {}
    for said in ordered[:-1]:
        others[(said.saying.negated, *(slot.value for slot in said.saying.slots))] = said
    if len(others) >= _MOST_VALUES:
        return
    for said in others.values():
        clash = contrast(said.saying, newest.saying)
        if clash is not None and said.chunk.id != newest.chunk.id and _together(said.chunk, newest.chunk):
            confidence = min(said.chunk.confidence, newest.chunk.confidence)
            score = round(_CERTAINTY[clash.kind] * confidence, 4)
            yield Clash(older=said, newer=newest, contrast=clash, score=score)


def _said_at(chunk: Chunk) -> object:
    return chunk.happened_at or chunk.times.recorded_at


def _together(one: Chunk, other: Chunk) -> bool:
    """Say whether two chunks hold at some moment both."""
    mine, yours = one.times, other.times
    begins = max(filter(None, (mine.valid_from, yours.valid_from)), default=None)
    ends = min(filter(None, (mine.valid_to, yours.valid_to)), default=None)
    return begins is None or ends is None or covers(None, ends, begins)
