"""The results page's section on consolidation, and the same figures as text."""

from collections.abc import Sequence

from benchmarks.consolidation.figures import Figure
from benchmarks.consolidation.measure import Report
from benchmarks.consolidation.write_cost import MOST_MS
from benchmarks.results import table, where, with_section

TITLE = "## Consolidation"


def shown(report: Report) -> str:
    """Return a report as text."""
    return "\n".join(_lines(report))


def placed(page: str, report: Report) -> str:
    """Return a results page with the figures in their section."""
    about = where()
    made = f"Measured {about['date']} on {about['machine']}."
    return with_section(page, TITLE, ["", *_introduction(report), "", *_lines(report), "", made])


def _introduction(report: Report) -> tuple[str, ...]:
    return (
        "What remembering a new text does to an old one (`python -m benchmarks consolidation`), through",
        f"`hydramem.connect` without an LLM, with the embedder {report.embedder}. Pairs are of authors who",
        "know neither the rules nor the training data; `benchmarks/data/pairs/CONVENTIONS.md` says when a",
        f"pair has which label. The set `{report.set}` has {report.pairs:,} pairs; with the generic ones,",
        f"{report.both_true:,} are of texts that are both true. Unless a row says otherwise, each pair is",
        "alone in its project. Recall is asked in a project with all pairs and returns ten hits.",
    )


def _lines(report: Report) -> list[str]:
    rows = [
        (one.name, f"{one.count:,} of {one.of:,}", _share(one), one.target, _verdict(one.met))
        for one in report.figures
    ]
    parts = [(one.name, _parts(one)) for one in report.figures if one.parts]
    return [
        *table(("", "count", "share", "target", "met"), rows),
        "",
        "By kind, of those that have several:",
        "",
        *table(("", "count of each kind"), parts),
        *_cost(report),
    ]


def _cost(report: Report) -> Sequence[str]:
    cost = report.cost
    if cost is None:
        return ()
    columns = ("embedding", "remember", "over the embedding", "the same in processor time")
    measured = (cost.embedding, cost.remember, cost.over, cost.over_processor)
    head = ("stored memories", "timed", *columns, "target", "met")
    ms = (f"{p50:.1f} / {p95:.1f}" for p50, p95 in measured)
    target = f"p50 at most {MOST_MS:.0f}"
    row = (f"{cost.held:,}", cost.count, *ms, target, _verdict(cost.met))
    about = "Milliseconds (p50 / p95) of one `remember` whose text touches a stored memory:"
    return ("", about, "", *table(head, [row]))


def _share(one: Figure) -> str:
    return "" if one.share is None else f"{one.share:.3f}"


def _verdict(met: bool | None) -> str:
    return "" if met is None else "yes" if met else "no"


def _parts(one: Figure) -> str:
    return ", ".join(f"{part.kind} {part.count}/{part.of}" for part in one.parts)
