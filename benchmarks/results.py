"""The results page: what runs of `retrieval` measured, as Markdown.

Each run is kept as a file of JSON, so that the page can be written again without measuring again.
"""

import json
import os
import platform
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from benchmarks.retrieval import Engine, measure

SETS = ("2wiki", "hotpot100", "locomo-turn", "locomo-session", "beam100k")

LAST_SECTION = "## Speed and memory"

Run = Mapping[str, Any]


def collect(
    data: Path, runs: Path, *, sets: Sequence[str], embedders: Sequence[str], engine: Engine, ablate: bool
) -> list[Run]:
    """Return the runs of these sets with these embedders, measuring those that the folder does not hold.

    Args:
        data: Folder of the sets.
        runs: Folder of the runs, a file each.
        sets: Names of sets.
        embedders: Names of embedders.
        engine: The graph engine.
        ablate: Whether to measure with each part of the search left out in turn.
    """
    runs.mkdir(parents=True, exist_ok=True)
    found = []
    for name in sets:
        for embedder in embedders:
            file = runs / f"{name}.{embedder}.json"
            if not file.is_file():
                report = asdict(measure(data / name, embedder=embedder, engine=engine, ablate=ablate))
                file.write_text(json.dumps(report | where(), indent=2), encoding="utf-8")
            found.append(json.loads(file.read_text(encoding="utf-8")))
    return found


def where() -> dict[str, Any]:
    """Return when and on what machine a run was made."""
    return {
        "date": datetime.now(UTC).date().isoformat(),
        "machine": f"{os.cpu_count()} {platform.machine()} cores, load {os.getloadavg()[0]:.1f} at the end",
    }


def with_section(page: str, title: str, lines: Sequence[str]) -> str:
    """Return a page with a section in the place of an older one of that title, else at its end."""
    before, _, after = page.partition(f"{title}\n")
    rest = after.partition("\n## ")
    following = ["## " + rest[2].rstrip("\n"), ""] if rest[1] else []
    return "\n".join([before.rstrip("\n"), "", title, *lines, "", *following])


def others(page: str) -> str:
    """Return the sections of a results page that other benchmarks put there."""
    _, title, rest = page.partition(LAST_SECTION)
    _, found, sections = rest.partition("\n## ")
    return f"\n## {sections}" if title and found else ""


def page(runs: Sequence[Run]) -> str:
    """Return the results page of some runs."""
    return "\n".join(
        [
            "# Results",
            "",
            "`python -m benchmarks results` writes this page from its runs. The configuration is the",
            "default, without an LLM. Recall (`@k`) is the mean share of a question's documents among the",
            "first k results, in percent. Latency is that of a whole `recall` of 40 hits, with its",
            "embedding. The load of the machine is given for each run.",
            "",
            "## Recall",
            "",
            *table(
                ("set", "embedder", "questions", "@1", "@2", "@5", "@10", "MRR"),
                [
                    (
                        run["set"],
                        run["embedder"],
                        run["queries"],
                        *_shares(run["recall"]),
                        f"{run['mrr']:.3f}",
                    )
                    for run in runs
                ],
            ),
            "",
            "## Ablations",
            "",
            *table(("set", "embedder", "left out", "@1", "@2", "@5", "@10"), _ablations(runs)),
            "",
            LAST_SECTION,
            "",
            *table(
                (
                    *("set", "embedder", "recall p50 ms", "p95 ms", "ingest chunks/s"),
                    *("ratio to the embedder's rate", "peak MB", "date", "machine"),
                ),
                [_speed(run) for run in runs],
            ),
            "",
        ]
    )


def _shares(recall: Mapping[str, float]) -> tuple[str, ...]:
    return tuple(f"{share * 100:.1f}" for share in recall.values())


def _ablations(runs: Sequence[Run]) -> list[tuple[object, ...]]:
    return [
        (run["set"], run["embedder"], name, *_shares(recall))
        for run in runs
        for name, recall in run["ablations"].items()
    ]


def _speed(run: Run) -> tuple[object, ...]:
    return (
        *(run["set"], run["embedder"], f"{run['latency_p50_ms']:.1f}", f"{run['latency_p95_ms']:.1f}"),
        *(f"{run['ingest_rate']:.1f}", f"{run['ingest_ratio']:.2f}", f"{run['peak_rss_mb']:.0f}"),
        *(run["date"], run["machine"]),
    )


def table(head: Sequence[str], rows: Sequence[Sequence[object]]) -> list[str]:
    """Return a table in Markdown."""
    lines = [head, ["---"] * len(head), *rows]
    return [f"| {' | '.join(map(str, line))} |" for line in lines]
