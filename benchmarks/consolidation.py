"""How well updates, duplicates and what only looks like them are told apart, by rules alone.

The pairs are in `data/consolidation.jsonl`. Rules were tuned on those whose part is `tune`; the others say
how they do on pairs that were not looked at.
"""

import json
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.results import table, with_section
from hydramem.core.config import EmbeddingConfig, MemoryConfig
from hydramem.core.errors import ModelUnavailableError
from hydramem.core.row_types import Chunk, Times
from hydramem.ingest.memories.consolidate.duplicate_or_update import (
    Comparison,
    ComparisonKind,
    compare,
    decide,
)
from hydramem.ingest.memories.similarity import NearbyChunk
from hydramem.llm.choose import choose_embedder

PAIRS = Path(__file__).parent / "data" / "consolidation.jsonl"
ACTIONS: tuple[ComparisonKind, ...] = ("update", "duplicate", "refine", "contradict", "unrelated")
MODELS = ("minilm", "bge-small")
_TITLE = "## Consolidation"
_BEFORE = datetime(2026, 1, 5, tzinfo=UTC)
_REPEATS = 3
_LONG = 100_000
_INTRODUCTION = (
    "How well rules classify a new memory against a stored one, without a model and without cosines",
    "(`python -m benchmarks consolidation`). The pairs in `benchmarks/data/consolidation.jsonl` are English,",
    "German and Spanish. The rules were tuned on `tune`; nobody has looked at the errors on `held`.",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """Two memories and what the newer is to the older."""

    id: str
    part: str
    action: ComparisonKind
    language: str
    differs: str
    old: Chunk
    new: Chunk


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """How one action was told on one part."""

    part: str
    action: str
    pairs: int
    precision: float
    recall: float
    f1: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """What was measured.

    Attributes:
        scores: One for each part and action.
        differing: Pairs that are no duplicates, by part.
        false_duplicates: Those of them that were called duplicates, by part.
        p50_ms, p99_ms: Time of one comparison of texts not read before.
        long_ms: Time of the slowest comparison of texts of a hundred thousand characters.
        near: Share of pairs whose cosine reaches the configured threshold, by model and action.
    """

    scores: tuple[Score, ...]
    differing: dict[str, int]
    false_duplicates: dict[str, int]
    p50_ms: float
    p99_ms: float
    long_ms: float
    near: dict[str, dict[str, float]]


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
        old=_note(row["old"], _BEFORE, earlier),
        new=_note(row["new"], after, later),
    )


def _note(text: str, at: datetime, author: str | None = None) -> Chunk:
    return Chunk(id=text, project="notes", text=text, kind="note", author=author, times=Times(recorded_at=at))


def told(pair: Pair) -> Comparison:
    """Return what the plan for one candidate makes of a pair."""
    plan = decide(pair.new, [NearbyChunk(chunk=pair.old)])
    found = compare(pair.new, pair.old)
    return found if plan.actions else Comparison(action="unrelated", reason=found.reason)


def scores(rows: Sequence[Pair], answers: Sequence[Comparison]) -> Iterator[Score]:
    """Yield a score for each part and action."""
    both = list(zip(rows, answers, strict=True))
    for part in dict.fromkeys(row.part for row in rows):
        mine = [(row.action, answer.action) for row, answer in both if row.part == part]
        for action in ACTIONS:
            wanted = sum(one == action for one, _ in mine)
            found = sum(said == action for _, said in mine)
            right = sum(one == said == action for one, said in mine)
            precision = right / found if found else 1.0
            recall = right / wanted if wanted else 1.0
            f1 = 2 * precision * recall / (precision + recall) if right else 0.0
            yield Score(part=part, action=action, pairs=wanted, precision=precision, recall=recall, f1=f1)


def measure() -> Report:
    """Compare all pairs, and time it."""
    rows = pairs()
    answers = [told(row) for row in rows]
    differing = [(row, one) for row, one in zip(rows, answers, strict=True) if row.action != "duplicate"]
    parts = list(dict.fromkeys(row.part for row in rows))
    spent = sorted(_timed(rows))
    return Report(
        scores=tuple(scores(rows, answers)),
        differing={part: sum(row.part == part for row, _ in differing) for part in parts},
        false_duplicates={
            part: sum(row.part == part and one.action == "duplicate" for row, one in differing)
            for part in parts
        },
        p50_ms=spent[len(spent) // 2],
        p99_ms=spent[len(spent) * 99 // 100],
        long_ms=_slowest(rows),
        near=_near(rows),
    )


def _timed(rows: Sequence[Pair]) -> Iterator[float]:
    """Yield the milliseconds of comparisons; blanks at the end make each text one not read before."""
    for turn in range(1, _REPEATS + 1):
        for row in rows:
            old = _note(row.old.text + " " * turn, row.old.times.recorded_at)
            new = _note(row.new.text + " " * turn, row.new.times.recorded_at)
            yield _spent(new, old)


def _spent(new: Chunk, old: Chunk) -> float:
    begin = time.thread_time()  # others may be at work on the machine
    compare(new, old)
    return (time.thread_time() - begin) * 1e3


def _slowest(rows: Sequence[Pair]) -> float:
    """Return the milliseconds of the slowest of some comparisons of very long texts."""
    prose = " ".join(f"{row.old.text} {row.new.text}" for row in rows)
    texts = [(f"{one} " * (_LONG // len(one) + 1))[:_LONG] for one in (prose, "a", "12:", "((", "don't ")]
    return max(_spent(_note(f"{text}x", _BEFORE), _note(text, _BEFORE)) for text in texts)


def _near(rows: Sequence[Pair]) -> dict[str, dict[str, float]]:
    """Say, for each model that is here, which share of pairs the configured threshold names candidates."""
    found = {}
    for name in MODELS:
        try:
            embedder = choose_embedder(EmbeddingConfig(model=name))
        except ModelUnavailableError:
            continue
        olds = embedder.embed_documents([row.old.text for row in rows])
        news = embedder.embed_documents([row.new.text for row in rows])
        reach = np.einsum("ij,ij->i", olds, news) >= MemoryConfig().consolidation_threshold
        of = np.array([row.action for row in rows])
        found[name] = {action: float(np.mean(reach[of == action])) for action in ACTIONS}
    return found


def shown(report: Report) -> str:
    """Return a report as text."""
    return "\n".join(_lines(asdict(report)))


def placed(page: str, report: Mapping[str, Any]) -> str:
    """Return a results page with the figures in their section."""
    made = f"Measured {report['date']} on {report['machine']}."
    return with_section(page, _TITLE, ["", *_INTRODUCTION, "", *_lines(report), "", made])


def _lines(report: Mapping[str, Any]) -> list[str]:
    heads = ("part", "action", "pairs", "precision", "recall", "F1")
    rows = [
        (
            one["part"],
            one["action"],
            one["pairs"],
            *(f"{one[name]:.3f}" for name in heads[3:5]),
            f"{one['f1']:.3f}",
        )
        for one in report["scores"]
    ]
    wrong = ", ".join(
        f"{count} of {report['differing'][part]} ({part})"
        for part, count in report["false_duplicates"].items()
    )
    near = [
        (model, *(f"{share:.0%}" for share in shares.values())) for model, shares in report["near"].items()
    ]
    return [
        *table(heads, rows),
        "",
        f"Differing pairs classified as duplicates: {wrong}.",
        "A comparison of two texts that were not compared before takes "
        f"{report['p50_ms']:.2f} ms (p50), {report['p99_ms']:.2f} ms (p99), and",
        f"at most {report['long_ms']:.0f} ms for two texts of a hundred thousand characters.",
        "",
        "Share of pairs whose cosine alone reaches the configured threshold:",
        "",
        *table(("embedder", *ACTIONS), near),
    ]
