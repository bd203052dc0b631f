"""The sets of pairs, by authors who saw neither the rules nor the training data.

`data/pairs/CONVENTIONS.md` says when a pair has which label.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

FOLDER = Path(__file__).parent.parent / "data" / "pairs"

Label = Literal["update", "contradict", "duplicate", "refine", "unrelated"]
SetName = Literal["test", "calibration"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """An old text, a new one, and what the new one is to the old.

    Attributes:
        kind: How the texts resemble each other.
        question: Its answer is the new text of an update, and the old text of an unrelated pair.
        apart: Whether two sources in two sessions say the texts.
    """

    old: str
    new: str
    label: Label
    kind: str
    question: str = ""
    apart: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Wordings:
    """Wordings of one fact whose value changes with each of them.

    Attributes:
        question: Asks for the current value.
    """

    subject: str
    question: str
    texts: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class PairSets:
    """What is measured.

    Attributes:
        pairs: The set itself.
        generic: Texts without a named subject, told by two sources; both are true.
        bare: Pairs of the set `wrapped` as they are.
        wrapped: The same with the new text in a wrapper, such as "Petra told me that".
    """

    name: str
    pairs: tuple[Pair, ...]
    generic: tuple[Pair, ...]
    bare: tuple[Pair, ...]
    wrapped: tuple[Pair, ...]
    wordings: tuple[Wordings, ...]


def read_sets(name: SetName = "test", folder: Path = FOLDER) -> PairSets:
    """Read a set, and those that go with every set."""
    wrapped = list(_rows(folder / "wrapped.jsonl"))
    return PairSets(
        name=name,
        pairs=tuple(_pair(row) for row in _rows(folder / f"{name}.jsonl")),
        generic=tuple(
            Pair(old=row["old"], new=row["new"], label="unrelated", kind="generic", apart=True)
            for row in _rows(folder / "generic.jsonl")
        ),
        bare=tuple(_wrapped(row, row["new"]) for row in wrapped),
        wrapped=tuple(_wrapped(row, row["wrapped"]) for row in wrapped),
        wordings=tuple(
            Wordings(subject=row["subject"], question=row["question"], texts=tuple(row["texts"]))
            for row in _rows(folder / "wordings.jsonl")
        ),
    )


def read_past(folder: Path = FOLDER) -> dict[str, str]:
    """Return questions for what was so before an update of the set `test`, by the old text."""
    return {row["old"]: row["question"] for row in _rows(folder / "past.jsonl")}


def _rows(file: Path) -> Iterator[dict[str, Any]]:
    for line in file.read_text(encoding="utf-8").splitlines():
        yield json.loads(line)


def _pair(row: dict[str, Any]) -> Pair:
    return Pair(
        old=row["old"],
        new=row["new"],
        label=row["label"],
        kind=row["kind"],
        question=row.get("question") or "",
    )


def _wrapped(row: dict[str, Any], new: str) -> Pair:
    return Pair(old=row["old"], new=new, label=row["label"], kind="wrapped")
