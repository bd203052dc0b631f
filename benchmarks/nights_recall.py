"""Nights in a row on a set of questions: what a gardener that knows nothing of them does to recall.

The questions are asked before the first night and after each: being asked, they are what sessions recall.
"""

import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import hydramem
from benchmarks.results import table, where, with_section
from benchmarks.retrieval import Engine, ask_all, by_case, ingest_case, recalls_of
from hydramem.core.config import Config, EmbeddingConfig, StorageConfig
from hydramem.llm.choose import choose_embedder

SETS = ("hotpot100",)
TITLE = "## Recall after gardener runs"


@dataclass(frozen=True, slots=True, kw_only=True)
class Nights:
    """What some nights did to recall.

    Attributes:
        recall: Before the first night and after each, as shares by depth.
        changes: What each night changed.
    """

    set: str
    embedder: str
    questions: int
    recall: tuple[Mapping[str, float], ...]
    changes: tuple[int, ...]
    seconds: tuple[float, ...]


def measure(
    folder: Path,
    *,
    embedder: str = "hash",
    engine: Engine = "ladybug",
    nights: int = 3,
    limit_queries: int | None = None,
) -> Nights:
    """Ingest a set, and ask its questions before and after nights.

    Args:
        folder: Holds `docs.jsonl` and `queries.jsonl`.
        embedder: As in `benchmarks.retrieval`.
        engine: The graph engine.
        nights: How many, one after the other.
        limit_queries: Ask only the first so many questions of each case.
    """
    docs, queries = by_case(folder / "docs.jsonl"), by_case(folder / "queries.jsonl")
    asked = {case: (rows, queries.get(case, [])[:limit_queries]) for case, rows in docs.items()}
    settings = EmbeddingConfig(model=embedder)
    model = choose_embedder(settings)
    config = Config(storage=StorageConfig(graph=engine), embedding=settings)
    changes, seconds = list[int](), list[float]()
    with tempfile.TemporaryDirectory() as scratch:
        place = Path(scratch)
        with hydramem.connect(place / "store", config=config, embedder=model) as memory:
            for number, (case, rows) in enumerate(docs.items()):
                ingest_case(memory, case, rows, place / "sources" / str(number))
            answered = [one for one in ask_all(memory, asked) if one.gold]
            found = [recalls_of(answered)]
            for _ in range(nights):
                reports = memory.garden(all_projects=True)
                changes.append(sum(phase.applied for one in reports for phase in one.phases))
                seconds.append(sum(one.seconds for one in reports))
                found.append(recalls_of([one for one in ask_all(memory, asked) if one.gold]))
    return Nights(
        set=folder.name,
        embedder=model.fingerprint,
        questions=len(answered),
        recall=tuple(found),
        changes=tuple(changes),
        seconds=tuple(seconds),
    )


def shown(run: Nights) -> str:
    """Return the figures as a person reads them."""
    lines = [f"{run.set}, {run.embedder}, {run.questions} questions"]
    for night, recall in enumerate(run.recall):
        shares = "   ".join(f"{depth} {100 * share:5.1f}" for depth, share in recall.items())
        made = f"   {run.changes[night - 1]} changes in {run.seconds[night - 1]:.0f} s" if night else ""
        lines.append(f"    after {night} nights   {shares}{made}")
    return "\n".join(lines)


def placed(page: str, runs: Sequence[Nights]) -> str:
    """Return a results page with the section of these figures."""
    about = where()
    rows = [
        (
            *(run.set, run.embedder, run.questions, night),
            *(f"{100 * share:.1f}" for share in recall.values()),
            run.changes[night - 1] if night else "",
        )
        for run in runs
        for night, recall in enumerate(run.recall)
    ]
    head = ("set", "embedder", "questions", "runs", *runs[0].recall[0], "changes of the last run")
    return with_section(
        page,
        TITLE,
        [
            "",
            "Recall before the first run of the gardener and after each of several in a row, without a",
            "model: the mean share of a question's documents among the first k results, in percent.",
            f"`python -m benchmarks garden`, {about['date']}, {about['machine']}.",
            "",
            *table(head, rows),
        ],
    )
