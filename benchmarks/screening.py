"""How much that is benign is held back, how much that is hostile is missed, and which secrets are found.

The sets are `data/screening/*.jsonl`: lines of `text`, `label` (benign, hostile, secret), `kind`, `author`.
The rules were written with the texts of `rules`, and the weights learnt from the files `train*`: only
authors of the files `test_*` measure both.
"""

import json
import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from benchmarks.results import table, with_section
from hydramem.ingest.screening.learned_orders import card
from hydramem.ingest.screening.quarantine import reasons_to_hold
from hydramem.ingest.screening.secrets import find_secrets

TITLE = "## Screening"
SETS = Path(__file__).parent / "data" / "screening"
ALL = "all"
_FEWEST = 5
_NORMAL = 1.96
"""The 97.5 % quantile of the normal distribution: intervals are of 95 %."""

Label = Literal["benign", "hostile", "secret"]
_WRONG = {"benign": "held back", "hostile": "missed", "secret": "not found"}


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelledText:
    """A text of a set, and what is right to do with it."""

    text: str
    label: Label
    kind: str
    author: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Rate:
    """The errors on the texts of one kind.

    Attributes:
        part: `seen`, of an author whose texts the rules or the weights know, or `unseen`.
        kind: The kind of the texts; `all` for all of a label.
        texts: How many there are.
        wrong: Benign ones held back, hostile ones missed, secrets not found.
        masked: Texts in which something is taken for a secret.
        low, high: Bounds of the share of wrong ones at 95 %, by Wilson's score interval (1927).
    """

    part: str
    label: Label
    kind: str
    texts: int
    wrong: int
    masked: int
    low: float
    high: float


def read_sets(folder: Path = SETS, pattern: str = "*.jsonl") -> tuple[LabelledText, ...]:
    """Read every set of a folder whose file's name fits a pattern, in the order of the names."""
    lines = (line for file in sorted(folder.glob(pattern)) for line in file.read_text("utf-8").splitlines())
    rows = (json.loads(line) for line in lines if line)
    return tuple(
        LabelledText(text=row["text"], label=row["label"], kind=row["kind"], author=row["author"])
        for row in rows
    )


def seen_authors() -> frozenset[str]:
    """Return the authors whose texts the rules or the weights were made with."""
    return frozenset(card()["texts"])


def measure(texts: Iterable[LabelledText], *, learned: bool = True) -> tuple[Rate, ...]:
    """Screen every text; return the rates of each label and kind, what was unseen first.

    Args:
        learned: Whether the weights judge too; False for the rules alone.
    """
    seen = seen_authors()
    found: dict[tuple[str, Label, str], list[tuple[bool, bool]]] = defaultdict(list)
    for each in texts:
        held, masked = bool(reasons_to_hold(each.text, learned=learned)), bool(find_secrets(each.text))
        wrong = {"benign": held, "hostile": not held, "secret": not masked}[each.label]
        part = "seen" if each.author in seen else "unseen"
        for kind in (ALL, each.kind):
            found[part, each.label, kind].append((wrong, masked))
    order = sorted(found, key=lambda key: (key[0] != "unseen", key[1], key[2] != ALL, key[2]))
    return tuple(_rate(key, found[key]) for key in order)


def _rate(key: tuple[str, Label, str], seen: Sequence[tuple[bool, bool]]) -> Rate:
    wrong = sum(each for each, _ in seen)
    low, high = wilson(wrong, len(seen))
    part, label, kind = key
    masked = sum(each for _, each in seen)
    return Rate(
        part=part, label=label, kind=kind, texts=len(seen), wrong=wrong, masked=masked, low=low, high=high
    )


def wilson(wrong: int, texts: int) -> tuple[float, float]:
    """Return the 95 % interval of a share, which Wilson's score gives; for no texts, all of 0 to 1."""
    if not texts:
        return 0.0, 1.0
    share, squared = wrong / texts, _NORMAL**2
    middle = (share + squared / (2 * texts)) / (1 + squared / texts)
    half = _NORMAL * math.sqrt(share * (1 - share) / texts + squared / (4 * texts**2)) / (1 + squared / texts)
    return max(0.0, middle - half), min(1.0, middle + half)


def shown(rates: Sequence[Rate], before: Sequence[Mapping[str, object]] = ()) -> str:
    """Return the rates as a table, beside those of an earlier run where there is one."""
    return "\n".join(_lines(rates, before))


def placed(page: str, rates: Sequence[Rate], before: Sequence[Mapping[str, object]] = ()) -> str:
    """Return a results page with the section of screening."""
    text = [
        "",
        "Written by `python -m benchmarks screening --out docs/results.md`. Benign texts are to be let in,",
        "hostile ones held back, secrets found. Unseen texts are by authors whom neither rules nor weights",
        "know; seen ones were there while those were made. In brackets: Wilson's interval of 95 %. Kinds of",
        f"fewer than {_FEWEST} texts are left out here, and counted in `{ALL}`.",
        "",
    ]
    told = [each for each in rates if each.texts >= _FEWEST or each.kind == ALL]
    return with_section(page, TITLE, [*text, *_lines(told, before)])


def _lines(rates: Sequence[Rate], before: Sequence[Mapping[str, object]]) -> list[str]:
    earlier = {(row["part"], row["label"], row["kind"]): row for row in before if "part" in row}
    head = ["texts", "label", "kind", "number", "error", *(["before"] if earlier else []), "share"]
    rows = []
    for each in rates:
        old = earlier.get((each.part, each.label, each.kind))
        was = f"{old['wrong']} of {old['texts']}" if old else ""
        share = f"{_percent(each.wrong / each.texts)} ({_percent(each.low)} to {_percent(each.high)})"
        named = [each.part, each.label, each.kind, each.texts, f"{each.wrong} {_WRONG[each.label]}"]
        rows.append([*named, *([was] if earlier else []), share])
    return table(head, rows)


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"
