"""How well updates, duplicates and what only looks like them are told apart, by rules alone.

The pairs are in `data/consolidation.jsonl`. Rules were tuned on those whose part is `tune`; the others say
how they do on pairs that were not looked at.
"""

import json
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np

from hydramem.core.config import EmbeddingConfig, MemoryConfig
from hydramem.core.errors import ModelUnavailableError
from hydramem.ingest.consolidate import CandidateMemory, Compared, Comparison, Telling, compare, decide
from hydramem.llm.choose import choose_embedder

PAIRS = Path(__file__).parent / "data" / "consolidation.jsonl"
ACTIONS: tuple[Compared, ...] = ("update", "duplicate", "refine", "contradict", "unrelated")
MODELS = ("minilm", "bge-small")
_TITLE = "## Consolidation"
_BEFORE = datetime(2026, 1, 5, tzinfo=UTC)
_REPEATS = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """Two memories and what the newer is to the older."""

    id: str
    part: str
    action: Compared
    language: str
    differs: str
    old: Telling
    new: Telling


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """How one action was told on one part."""

    part: str
    action: str
    pairs: int
    found: int
    right: int

    @property
    def precision(self) -> float:
        return self.right / self.found if self.found else 1.0

    @property
    def recall(self) -> float:
        return self.right / self.pairs if self.pairs else 1.0

    @property
    def f1(self) -> float:
        both = self.precision + self.recall
        return 2 * self.precision * self.recall / both if both else 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """What was measured.

    Attributes:
        scores: One for each part and action.
        false_duplicates: Pairs that differ, and were called duplicates, by part.
        p50_ms, p99_ms: Time of one comparison of texts not read before.
        kept: Share of pairs that touch each other whose cosine reaches the configured threshold, by model.
    """

    scores: tuple[Score, ...]
    false_duplicates: dict[str, int]
    p50_ms: float
    p99_ms: float
    kept: dict[str, dict[str, float]]


def pairs(file: Path = PAIRS) -> list[Pair]:
    """Read the labelled pairs."""
    return [_pair(json.loads(line)) for line in file.read_text(encoding="utf-8").splitlines()]


def _pair(row: dict[str, Any]) -> Pair:
    earlier, later = row.get("authors", (None, None))
    after = _BEFORE if row.get("at_once") else _BEFORE + timedelta(days=40)
    return Pair(
        id=row["id"],
        part=row["part"],
        action=row["action"],
        language=row["language"],
        differs=row.get("differs", ""),
        old=Telling(text=row["old"], author=earlier, said_at=_BEFORE),
        new=Telling(text=row["new"], author=later, said_at=after),
    )


def told(pair: Pair) -> Comparison:
    """Return what the plan for one candidate makes of a pair."""
    plan = decide(pair.new, [CandidateMemory(id="old", telling=pair.old)], MemoryConfig())
    found = compare(pair.new, pair.old)
    return found if plan.actions else Comparison(action="unrelated", reason=found.reason)


def scores(rows: Sequence[Pair], answers: Sequence[Comparison]) -> Iterable[Score]:
    """Yield a score for each part and action."""
    for part in dict.fromkeys(row.part for row in rows):
        mine = [
            (row.action, answer.action) for row, answer in zip(rows, answers, strict=True) if row.part == part
        ]
        for action in ACTIONS:
            yield Score(
                part=part,
                action=action,
                pairs=sum(wanted == action for wanted, _ in mine),
                found=sum(said == action for _, said in mine),
                right=sum(wanted == said == action for wanted, said in mine),
            )


def measure() -> Report:
    """Compare all pairs, and time it."""
    rows = pairs()
    answers = [told(row) for row in rows]
    wrong = [row for row, one in zip(rows, answers, strict=True) if one.action == "duplicate" != row.action]
    spent = sorted(_timed(rows))
    return Report(
        scores=tuple(scores(rows, answers)),
        false_duplicates={
            part: sum(row.part == part for row in wrong) for part in dict.fromkeys(row.part for row in rows)
        },
        p50_ms=spent[len(spent) // 2],
        p99_ms=spent[len(spent) * 99 // 100],
        kept=_kept(rows),
    )


def _timed(rows: Sequence[Pair]) -> Iterable[float]:
    """Yield the milliseconds of comparisons; a blank more makes each text one that was not read before."""
    for turn in range(_REPEATS):
        for row in rows:
            old = Telling(text=row.old.text + " " * (turn + 1), said_at=row.old.said_at)
            new = Telling(text=row.new.text + " " * (turn + 1), said_at=row.new.said_at)
            begin = time.perf_counter()
            compare(new, old)
            yield (time.perf_counter() - begin) * 1e3


def _kept(rows: Sequence[Pair]) -> dict[str, dict[str, float]]:
    """Say, for each model that is here, which share of pairs the configured threshold would name."""
    found = {}
    for name in MODELS:
        try:
            embedder = choose_embedder(EmbeddingConfig(model=name))
        except ModelUnavailableError:
            continue
        olds = embedder.embed_documents([row.old.text for row in rows])
        news = embedder.embed_documents([row.new.text for row in rows])
        cosines = np.einsum("ij,ij->i", olds, news)
        found[name] = {
            action: float(
                np.mean(
                    [
                        c >= MemoryConfig().consolidation_threshold
                        for c, row in zip(cosines, rows, strict=True)
                        if row.action == action
                    ]
                )
            )
            for action in ACTIONS
        }
    return found


def shown(report: Report) -> str:
    """Return a report as text."""
    lines = [
        f"{one.part:5} {one.action:10} pairs {one.pairs:3}  precision {one.precision:.3f}  "
        f"recall {one.recall:.3f}  F1 {one.f1:.3f}"
        for one in report.scores
    ]
    wrong = ", ".join(f"{part} {count}" for part, count in report.false_duplicates.items())
    lines += [
        f"false duplicates: {wrong}",
        f"a comparison: p50 {report.p50_ms:.3f} ms, p99 {report.p99_ms:.3f} ms",
    ]
    lines += [f"{name}: at the configured cosine {shares}" for name, shares in report.kept.items()]
    return "\n".join(lines)
