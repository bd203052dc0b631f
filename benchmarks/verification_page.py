"""The results page's section on verification, from a saved run."""

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
        "Written by `python -m benchmarks verification --out`. The first stage judges claims of knowledge",
        "graphs, and claims with passages as their only evidence. It uses no model and the shipped weights,",
        "which were not fitted on any of these claims. Plain is a baseline:",
        "0.4 confidence + 0.4 Jaccard + 0.05 named - 0.3 isolated. Accepted right is the share of accepted",
        "claims that are true, rejected right the share of rejected claims that are false, decided the share",
        "of claims that need no model.",
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
        f"With the graph alone, on {speed['nodes']:,} nodes and {speed['edges']:,} edges: "
        f"{speed['per_second']:,.0f} candidates a second, after {speed['learning']:.1f} s of learning paths.",
    ]
