"""The results page's section on relevance, and the same figures as text."""

from collections.abc import Sequence

from benchmarks.relevance.fit import Row
from benchmarks.relevance.run import Report
from benchmarks.results import table, where, with_section

TITLE = "## Relevance"
_INTRODUCTION = (
    "How well `relevance` tells queries that a store answers from those of other stores and from talk",
    "that asks nothing (`python -m benchmarks relevance`). An own query has an answer among the first five",
    "hits, and is asked plainly, by keywords, in lower case, within chatter, or by one name. Each row is of",
    "weights that were fitted without that kind of store. The talk, and the stores below the mean with all",
    "their queries, are of other authors than anything that is fitted. Lost are own queries below the floor",
    "`search.min_relevance`; unanswered are the others below it.",
)
_SIZES = (
    "Stores of other sizes. Small ones are samples of the sets above of about 100 chunks each, with weights",
    "that were fitted without their set. The large one is 2wiki, hotpot100 and locomo-session in one project",
    "of 11,000 chunks; foreign to it are the questions of beam100k and of the written stores. No store of",
    "these sizes is fitted on: that helps the large one and harms the written stores of other authors.",
)


def shown(report: Report) -> str:
    """Return a report as tables."""
    lines = _table("store left out", report.rows, report.floor)
    if report.sizes:
        lines += ["", *_SIZES, "", *_table("store", report.sizes, report.floor)]
    return "\n".join(lines)


def _table(first: str, rows: Sequence[Row], floor: float) -> list[str]:
    lines = [
        (
            one.store,
            f"{one.own}/{one.foreign}/{one.talk}",
            _number(one.auc_foreign),
            _number(one.auc_talk),
            _percent(one.lost),
            _percent(one.foreign_unanswered),
            _percent(one.talk_unanswered),
            _number(one.calibration_error),
        )
        for one in rows
    ]
    head = (
        first,
        "own/foreign/talk",
        "AUC own : foreign",
        "AUC own : talk",
        f"own lost at {floor:g}",
        "foreign unanswered",
        "talk unanswered",
        "calibration error",
    )
    return table(head, lines)


def placed(page: str, report: Report) -> str:
    """Return a results page with the figures in their section."""
    about = where()
    made = f"Embedder {report.embedder}. Measured {about['date']} on {about['machine']}."
    return with_section(page, TITLE, ["", *_INTRODUCTION, "", shown(report), "", made])


def _number(value: float) -> str:
    return "" if value != value else f"{value:.3f}"


def _percent(value: float) -> str:
    return "" if value != value else f"{100 * value:.1f} %"
