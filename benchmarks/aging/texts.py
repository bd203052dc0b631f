"""Texts for memories that age: JSON lines by authors who have seen neither the code nor the phases.

Each author has a folder with a file for each kind of ailment; a file that is missing gives no rows.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path
from typing import Any, TypeVar

TEXTS = Path(__file__).parents[1] / "data" / "aging"
_MOST_SHARE = 1.0
T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class ToldAgain:
    """A memory, the same in other words, one that is only like it, and a question for each of the two."""

    text: str
    again: str
    near: str
    question: str
    near_question: str


@dataclass(frozen=True, slots=True, kw_only=True)
class State:
    """What was so from a day on, as it was said then.

    Attributes:
        value: What the text states, in short.
    """

    text: str
    on: date
    value: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Changed:
    """A fact that changed, oldest state first, and one beside it that did not."""

    question: str
    states: tuple[State, ...]
    beside: str
    beside_question: str


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedFact:
    """A fact, and the spelling that stands in it."""

    text: str
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TwoHop:
    """A question that needs two facts, by their places."""

    question: str
    needs: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Namesake:
    """Another thing of a similar name."""

    name: str
    facts: tuple[str, ...]
    question: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SplitName:
    """A thing of several spellings, with facts that are spread over them."""

    names: tuple[str, ...]
    facts: tuple[NamedFact, ...]
    two_hop: tuple[TwoHop, ...]
    namesake: Namesake


@dataclass(frozen=True, slots=True, kw_only=True)
class HiddenFact:
    """A fact that a turn of a transcript states, as a memory says it."""

    text: str
    turn: int
    question: str


@dataclass(frozen=True, slots=True, kw_only=True)
class NoisySession:
    """A transcript of mostly noise: author and text of each turn."""

    turns: tuple[tuple[str, str], ...]
    facts: tuple[HiddenFact, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A memory that people ask for again and again, others like it, and what nobody asked so far.

    Attributes:
        new: Questions with the memory that answers each.
    """

    gold: str
    rivals: tuple[str, ...]
    questions: tuple[str, ...]
    new: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Texts:
    """The texts of all authors, by ailment."""

    told_again: tuple[ToldAgain, ...] = ()
    changed: tuple[Changed, ...] = ()
    names: tuple[SplitName, ...] = ()
    noise: tuple[NoisySession, ...] = ()
    asked: tuple[Asked, ...] = ()

    def thinned(self, share: float) -> "Texts":
        """Return a share of the rows of each kind, evenly spread over the authors."""
        if share >= _MOST_SHARE:
            return self
        return replace(
            self,
            told_again=_spread(self.told_again, share),
            changed=_spread(self.changed, share),
            names=_spread(self.names, share),
            noise=_spread(self.noise, share),
            asked=_spread(self.asked, share),
        )


def _spread(rows: Sequence[T], share: float) -> tuple[T, ...]:
    most = max(1, round(share * len(rows))) if rows else 0
    return tuple(rows[place * len(rows) // most] for place in range(most))


def read_texts(folder: Path = TEXTS, *, author: str | None = None) -> Texts:
    """Read the texts of all authors, in the order of their names.

    Args:
        folder: Holds a folder for each author.
        author: Read those of this one alone.
    """
    authors = sorted(each for each in folder.iterdir() if each.is_dir() and author in (None, each.name))
    return Texts(
        told_again=tuple(_told_again(row) for each in authors for row in _rows(each / "told_again.jsonl")),
        changed=tuple(_changed(row) for each in authors for row in _rows(each / "changed.jsonl")),
        names=tuple(_split(row) for each in authors for row in _rows(each / "names.jsonl")),
        noise=tuple(_noisy(row) for each in authors for row in _rows(each / "noise.jsonl")),
        asked=tuple(_asked(row) for each in authors for row in _rows(each / "asked.jsonl")),
    )


def _rows(path: Path) -> list[dict[str, Any]]:
    if not path.is_file():
        return []
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]


def _told_again(row: dict[str, Any]) -> ToldAgain:
    return ToldAgain(
        text=one_line(row["text"]),
        again=one_line(row["again"]),
        near=one_line(row["near"]),
        question=row["question"],
        near_question=row["near_question"],
    )


def _changed(row: dict[str, Any]) -> Changed:
    states = [
        State(text=one_line(each["text"]), on=date.fromisoformat(each["on"]), value=str(each["value"]))
        for each in row["states"]
    ]
    return Changed(
        question=row["question"],
        states=tuple(sorted(states, key=lambda each: each.on)),
        beside=one_line(row["beside"]),
        beside_question=row["beside_question"],
    )


def _split(row: dict[str, Any]) -> SplitName:
    other = row["namesake"]
    return SplitName(
        names=tuple(row["names"]),
        facts=tuple(NamedFact(text=one_line(each["text"]), name=each["name"]) for each in row["facts"]),
        two_hop=tuple(
            TwoHop(question=each["question"], needs=tuple(each["needs"])) for each in row["two_hop"]
        ),
        namesake=Namesake(
            name=other["name"], facts=tuple(map(one_line, other["facts"])), question=other["question"]
        ),
    )


def _noisy(row: dict[str, Any]) -> NoisySession:
    return NoisySession(
        turns=tuple((turn["role"], turn["text"]) for turn in row["turns"]),
        facts=tuple(
            HiddenFact(text=one_line(each["text"]), turn=each["turn"], question=each["question"])
            for each in row["facts"]
        ),
    )


def _asked(row: dict[str, Any]) -> Asked:
    return Asked(
        gold=one_line(row["gold"]),
        rivals=tuple(map(one_line, row["rivals"])),
        questions=tuple(row["questions"]),
        new=tuple((each["question"], one_line(each["gold"])) for each in row["new"]),
    )


def one_line(text: str) -> str:
    """Return a text with single spaces, by which texts are compared."""
    return " ".join(text.split())
