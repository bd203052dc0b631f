"""All pairs in one project: what recall returns first, and what foreign memories do to each other."""

from collections.abc import Sequence
from dataclasses import dataclass

import hydramem
from benchmarks.consolidation.sets import Pair, Wordings
from hydramem.core.results.write_results import Remembered
from hydramem.ingest.memories.memory_input import MemoryInput

_PROJECT = "together"
_BATCH = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredPair:
    """What became of a pair among all others.

    Attributes:
        gone: Whether the new text ended the old memory, or counts as another text told again.
        old_rank, new_rank: Place among the hits for the question, from 0; None if it is not among them.
    """

    pair: Pair
    gone: bool
    old_rank: int | None = None
    new_rank: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Store:
    """A project with all pairs.

    Attributes:
        memories: How many were told.
        ended_by_others: How many a text of another pair ended.
    """

    pairs: tuple[StoredPair, ...]
    memories: int
    ended_by_others: int


@dataclass(frozen=True, slots=True, kw_only=True)
class FollowedWordings:
    """How often the current wording was first after it was told."""

    subject: str
    told: int
    first: int


def store_all(memory: hydramem.Memory, pairs: Sequence[Pair]) -> Store:
    """Remember all old texts, then all new ones, run the pending jobs, and ask the questions."""
    olds: list[Remembered] = []
    for start in range(0, len(pairs), _BATCH):
        texts = [MemoryInput(text=pair.old) for pair in pairs[start : start + _BATCH]]
        olds += memory.remember_many(texts, project=_PROJECT)
    news = [memory.remember(pair.new, project=_PROJECT) for pair in pairs]
    memory.drain()
    own = {(old.id, new.id) for old, new in zip(olds, news, strict=True)}
    ended = [(id, each.id) for each in (*olds, *news) for id in each.superseded]
    return Store(
        pairs=tuple(
            _asked(memory, pair, old.id, new) for pair, old, new in zip(pairs, olds, news, strict=True)
        ),
        memories=len(olds) + len(news),
        ended_by_others=sum(one not in own for one in ended),
    )


def _asked(memory: hydramem.Memory, pair: Pair, old: str, new: Remembered) -> StoredPair:
    gone = old in new.superseded or (not new.created and memory.get(new.id).text != pair.new)
    if not pair.question:
        return StoredPair(pair=pair, gone=gone)
    ids = [hit.id for hit in memory.recall(pair.question, project=_PROJECT).hits]
    old_rank, new_rank = (ids.index(id) if id in ids else None for id in (old, new.id))
    return StoredPair(pair=pair, gone=gone, old_rank=old_rank, new_rank=new_rank)


def follow(memory: hydramem.Memory, wordings: Wordings) -> FollowedWordings:
    """Remember wordings of one fact among all pairs, and ask for the current one after each."""
    first = 0
    for text in wordings.texts:
        memory.remember(text, project=_PROJECT)
        memory.drain()
        hits = memory.recall(wordings.question, project=_PROJECT).hits
        first += bool(hits) and hits[0].text == text
    return FollowedWordings(subject=wordings.subject, told=len(wordings.texts), first=first)
