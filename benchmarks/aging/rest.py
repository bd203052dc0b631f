"""What a memory holds beside what ages: passages of question sets and turns of conversations."""

import random
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.aging.lives import Question
from benchmarks.aging.texts import one_line
from benchmarks.retrieval import Row, by_case

QUESTION_SETS = ("2wiki", "hotpot100")
MEMORY_SET = "locomo-turn"
UNAFFECTED = "unaffected"
"""Ailment of the questions about passages, which no text of an author touches."""

_MEMORY_SHARE, _GOLD_SHARE, _SECOND_SET = 0.4, 0.5, 1 / 3
_LEAST_WORDS = 8
Triple = tuple[str, str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rest:
    """Documents and memories without an ailment, with questions about the documents.

    Attributes:
        passages: Name and text of each document.
        stated: True relations of documents, by their names, where the set gives them.
    """

    passages: tuple[tuple[str, str], ...]
    memories: tuple[str, ...]
    questions: tuple[Question, ...]
    stated: dict[str, tuple[Triple, ...]]


def rest_of(data: Path, size: int, *, seed: int = 0) -> Rest:
    """Draw documents, memories and questions.

    Args:
        data: Folder of the sets.
        size: Documents and memories together; fewer where the sets have no more.
        seed: Of the draw.
    """
    chance = random.Random(f"rest {seed}")
    memories = _memories(data / MEMORY_SET, round(_MEMORY_SHARE * size), chance)
    quota = size - len(memories)
    first, second = QUESTION_SETS
    others = _drawn(data / second, second, round(_SECOND_SET * quota), chance)
    own = _drawn(data / first, first, quota - len(others.passages), chance)
    return Rest(
        passages=(*own.passages, *others.passages),
        memories=memories,
        questions=(*own.questions, *others.questions),
        stated=own.stated | others.stated,
    )


def _memories(folder: Path, most: int, chance: random.Random) -> tuple[str, ...]:
    rows = [row for case in by_case(folder / "docs.jsonl").values() for row in case]
    long = dict.fromkeys(
        one_line(row["text"]) for row in rows if len(row["meta"]["raw"].split()) >= _LEAST_WORDS
    )
    return tuple(chance.sample(sorted(long), min(most, len(long))))


def _drawn(folder: Path, name: str, quota: int, chance: random.Random) -> Rest:
    """Draw documents of a set: those of some questions, then any others."""
    [docs] = by_case(folder / "docs.jsonl").values()
    [asked] = by_case(folder / "queries.jsonl").values()
    asked = [row for row in asked if row["gold"]]
    texts = {row["id"]: row["text"] for row in docs}
    kept: dict[str, None] = {}
    for row in chance.sample(asked, len(asked)):
        if len(kept) + len(row["gold"]) <= _GOLD_SHARE * quota:
            kept |= dict.fromkeys(row["gold"])
    others = [id for id in texts if id not in kept]
    kept |= dict.fromkeys(chance.sample(others, min(len(others), quota - len(kept))))
    answered = [row for row in asked if kept.keys() >= set(row["gold"])]
    return Rest(
        passages=tuple((f"{name}-{id}", texts[id]) for id in texts if id in kept),
        memories=(),
        questions=tuple(_question(row, name) for row in answered),
        stated=_stated(answered, docs, name),
    )


def _question(row: Row, name: str) -> Question:
    gold = tuple(frozenset((f"{name}-{id}",)) for id in row["gold"])
    return Question(ailment=UNAFFECTED, part=name, text=row["query"], gold=gold)


def _stated(asked: Sequence[Row], docs: Sequence[Row], name: str) -> dict[str, tuple[Triple, ...]]:
    """Return the relations that questions rest on, each with the document of its subject."""
    titles = {row["id"]: row["meta"].get("title", "") for row in docs}
    found: dict[str, dict[Triple, None]] = {}
    for row in asked:
        for subject, type, object in row["meta"].get("triples", ()):
            for id in row["gold"]:
                if titles[id] == subject != object:
                    found.setdefault(f"{name}-{id}", {})[subject, type, object] = None
    return {document: tuple(triples) for document, triples in found.items()}
