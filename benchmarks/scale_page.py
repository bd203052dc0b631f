"""The page of scale: the figures measured at each size, and their targets."""

from collections.abc import Mapping, Sequence
from typing import Any

from benchmarks.results import table

Run = Mapping[str, Any]
"""A measured size as it was saved (`scale.Scale`), or a measured walk (`walks.Walked`)."""

_AT = 100_000


def page(runs: Sequence[Run], walked: Sequence[Run]) -> str:
    """Return the page.

    Args:
        runs: A run for each size.
        walked: Walks over made-up graphs.
    """
    runs = sorted(runs, key=lambda run: run["chunks"])
    return "\n".join(
        [
            "# Scale",
            "",
            "`python -m benchmarks scale --out` writes this page from its runs: the default configuration on",
            "LadybugDB and LanceDB, without an LLM. Every question is asked once, with filters on its",
            "project and on what is true now, and with the graph walk. Milliseconds are p50 / p95. The",
            "embedder alone is timed on the same questions in each round. The fastest round is shown, with",
            "the spread over all rounds; other work on the machine adds to both.",
            "",
            "## Targets",
            "",
            *table(("figure", "target", "measured"), list(_targets(runs, walked))),
            "",
            "## Recall",
            "",
            *table(
                ("chunks", "edges", "recall ms", "embedder alone ms", "ratio", "spread of the ratio"),
                [_recall(run) for run in runs],
            ),
            "",
            "## Recall after a hundred single writes",
            "",
            *table(
                ("chunks", "one write ms", "recall ms", "embedder alone ms", "ratio"),
                [_after(run) for run in runs],
            ),
            "",
            "## Latency by stage",
            "",
            "`text` runs in parallel with `embed` and `vector`; with few cores they slow each other down.",
            "",
            *table(("chunks", *_stages(runs)), [_by_stage(run, _stages(runs)) for run in runs]),
            "",
            "## Memory and loading",
            "",
            *table(
                (
                    *("chunks", "snapshot loaded s", "snapshot MB", "vectors in memory MB", "resident MB"),
                    *("filled in s", "embedder", "date", "machine"),
                ),
                [_memory(run) for run in runs],
            ),
            "",
            "## Walks",
            "",
            "On synthetic graphs. The last column is the share of the exact walk's best fifty nodes that are",
            "also among this walk's best fifty.",
            "",
            *table(
                ("walk", "nodes", "edges", "p50 ms", "p95 ms", "best fifty"),
                [_walk(row) for row in walked],
            ),
            "",
        ]
    )


def _best(run: Run) -> Mapping[str, Any]:
    best: Mapping[str, Any] = min(run["rounds"], key=lambda one: one["recall"][0])
    return best


def _ratio(one: Mapping[str, Any]) -> float:
    return float(one["recall"][0] / one["embed"][0])


def _targets(runs: Sequence[Run], walked: Sequence[Run]) -> Sequence[tuple[object, ...]]:
    sizes = {run["chunks"]: run for run in runs}
    rows: list[tuple[object, ...]] = []
    if _AT in sizes:
        large, best = sizes[_AT], _best(sizes[_AT])
        after = large["after_writes"]
        rows += [
            ("recall at 100,000 chunks, as a multiple of the embedding, p50", "≤ 8", f"{_ratio(best):.1f}"),
            ("recall at 100,000 chunks, p95", "≤ 100 ms", f"{best['recall'][1]:.0f} ms"),
            (
                "recall after a hundred writes, as a multiple of the embedding, p50",
                "≤ 8",
                f"{_ratio(after):.1f}",
            ),
            ("recall after a hundred writes, p95", "≤ 100 ms", f"{after['recall'][1]:.0f} ms"),
            ("full text at 100,000 chunks, p95", "< 50 ms", f"{best['stages']['text'][1]:.0f} ms"),
            ("snapshot of 100,000 chunks", "≤ 250 MB", f"{large['snapshot_mb']:.0f} MB"),
            ("time to load it", "≤ 3 s", f"{large['snapshot_seconds']:.1f} s"),
        ]
        if _AT // 10 in sizes:
            growth = best["recall"][0] / _best(sizes[_AT // 10])["recall"][0]
            rows.insert(2, ("growth of the latency with ten times the chunks", "≤ 1.5", f"{growth:.2f}"))
    for row in walked:
        if row["overlap"] is not None and row["nodes"] == _AT:
            shown = f"{row['p50']:.1f} ms, {row['overlap']:.2f}"
            rows.append((f"{row['walk']}, 100,000 nodes: p50 and overlap", "≤ 10 ms, ≥ 0.95", shown))
        elif row["overlap"] is None and "depth 3" in row["walk"] and row["nodes"] == _AT // 10:
            rows.append((f"{row['walk']}, 10,000 nodes, p50", "< 30 ms", f"{row['p50']:.1f} ms"))
    return rows


def _recall(run: Run) -> tuple[object, ...]:
    best, ratios = _best(run), [_ratio(one) for one in run["rounds"]]
    return (
        *(f"{run['chunks']:,}", f"{run['edges']:,}", _pair(best["recall"]), _pair(best["embed"])),
        *(f"{_ratio(best):.1f}", f"{min(ratios):.1f} to {max(ratios):.1f}"),
    )


def _after(run: Run) -> tuple[object, ...]:
    after = run["after_writes"]
    return (
        *(f"{run['chunks']:,}", _pair(run["write_ms"]), _pair(after["recall"]), _pair(after["embed"])),
        f"{_ratio(after):.1f}",
    )


def _stages(runs: Sequence[Run]) -> tuple[str, ...]:
    return tuple(sorted({name for run in runs for name in _best(run)["stages"]}))


def _by_stage(run: Run, stages: Sequence[str]) -> tuple[object, ...]:
    found = _best(run)["stages"]
    return f"{run['chunks']:,}", *(_pair(found[name]) if name in found else "" for name in stages)


def _memory(run: Run) -> tuple[object, ...]:
    filled = run["fill_seconds"]
    return (
        *(f"{run['chunks']:,}", f"{run['snapshot_seconds']:.2f}", f"{run['snapshot_mb']:.0f}"),
        *(f"{run['vectors_mb']:.0f}", f"{run['rss_mb']:.0f}", "" if filled is None else f"{filled:.0f}"),
        *(run["embedder"], run["date"], run["machine"]),
    )


def _walk(row: Run) -> tuple[object, ...]:
    return (
        *(row["walk"], f"{row['nodes']:,}", f"{row['edges']:,}", f"{row['p50']:.2f}", f"{row['p95']:.2f}"),
        "" if row["overlap"] is None else f"{row['overlap']:.3f}",
    )


def _pair(milliseconds: Sequence[float]) -> str:
    return f"{milliseconds[0]:.1f} / {milliseconds[1]:.1f}"
