"""The results page's section on verification, from a run as it was saved. No figure is typed in."""

from collections.abc import Mapping
from typing import Any

from benchmarks.results import table, with_section

TITLE = "## Verification"

Run = Mapping[str, Any]
"""A saved `verification.Report`, with where and when."""


def placed(page: str, run: Run) -> str:
    """Return a page with the section of a run, in the place of an older one."""
    return with_section(page, TITLE, _section(run))


def _section(run: Run) -> list[str]:
    return [
        "",
        "Written by `python -m benchmarks verification --out`. Claims of knowledge graphs, and claims that",
        "rest on passages alone, judged by the first stage with the weights that come with the package: no",
        "model, and none of these claims among those that they were fitted on. Plain is 0.4 confidence",
        "+ 0.4 Jaccard + 0.05 named - 0.3 isolated. Right: share of the accepted that hold, of the rejected",
        "that do not. Decided: share of all claims that wait for no model.",
        f"Weights {run['weights']}, {run['date']}, {run['machine']}.",
        "",
        *table(
            (
                *("set", "wrong claims", "claims", "AUC", "plain AUC", "average precision"),
                *("accepted right", "rejected right", "accepted", "decided"),
            ),
            [_row(row) for row in run["judged"]],
        ),
        *_speed(run["speed"]),
    ]


def _row(row: Mapping[str, Any]) -> tuple[str, ...]:
    return (
        *(row["set"], row["against"], str(row["claims"]), f"{row['auc']:.3f}", f"{row['plain_auc']:.3f}"),
        *(f"{row['average_precision']:.3f}", _share(row["precision"]), _share(row["rejected_right"])),
        *(f"{row['accepted']:.2f}", f"{row['coverage']:.2f}"),
    )


def _share(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"


def _speed(speed: Mapping[str, Any] | None) -> list[str]:
    if speed is None:
        return []
    return [
        "",
        f"{speed['per_second']:,.0f} candidates a second by the graph alone, on {speed['nodes']:,} nodes and"
        f" {speed['edges']:,} edges, after {speed['learning']:.1f} s in which its paths were learned.",
    ]
