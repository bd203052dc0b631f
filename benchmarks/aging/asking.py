"""Questions asked of a store, and what became of each: nothing of it is recorded, so nothing is learned."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import hydramem
from benchmarks.aging.build import Shelf
from benchmarks.aging.lives import Question
from benchmarks.aging.texts import one_line
from benchmarks.aging.year import present

DEPTH = 5
_HITS = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What one question found.

    Attributes:
        recall: Share of what is needed among the first five.
        reciprocal: One over the rank of the first of it among ten; 0 where none came.
        stale: Whether a text that was so before came before the current one; None where there is none.
        duplicates: Hits among the first five that say what an earlier one says.
    """

    recall: float
    reciprocal: float
    stale: bool | None
    duplicates: int


def ask(
    shelf: Shelf, path: Path, questions: Sequence[Question], same: Sequence[frozenset[str]], at: datetime
) -> list[Outcome]:
    """Ask questions of a store.

    Args:
        shelf: Opens the store.
        path: The store.
        questions: What is asked.
        same: Texts that say the same.
        at: When it is asked.
    """
    group = {text: number for number, texts in enumerate(same) for text in texts}
    with present(at), shelf.opened(path) as memory, memory.during(None):
        return [_outcome(memory.recall(each.text, limit=_HITS).hits, each, group) for each in questions]


def _outcome(hits: Sequence[hydramem.Hit], question: Question, group: Mapping[str, int]) -> Outcome:
    found = [_key(hit) for hit in hits]
    ranks = [next((rank for rank, key in enumerate(found, 1) if key in gold), 0) for gold in question.gold]
    came = [rank for rank in ranks if rank]
    stale = [rank for rank, key in enumerate(found, 1) if key in question.stale]
    said = [group.get(key, key) for hit, key in zip(hits[:DEPTH], found, strict=False) if not hit.document]
    return Outcome(
        recall=sum(0 < rank <= DEPTH for rank in ranks) / len(ranks),
        reciprocal=1 / min(came) if came else 0.0,
        stale=bool(stale and (not came or min(stale) < min(came))) if question.stale else None,
        duplicates=len(said) - len(set(said)),
    )


def _key(hit: hydramem.Hit) -> str:
    """Return the name of a hit's document, or the text of a memory or turn."""
    return Path(hit.source).stem if hit.document else one_line(hit.text)
