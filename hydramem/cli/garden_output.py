"""The report of a gardener's run as lines of text: its phases, its changes, and what a person can do next."""

from collections.abc import Iterator, Mapping

from hydramem.core.package_data import data_tables
from hydramem.core.results.garden_results import SHOWN_CHANGES, Gardened, PhaseReport
from hydramem.text.shown_text import amount

_SHOWN = 20
"""Most changes of a run that are listed; a plan lists all of them."""

_INDENT = " " * 12
_ENDINGS = {"completed": "completed in", "partial": "done in part, in", "failed": "failed after"}
_WITHOUT_PROPOSALS = ("distill", "review", "maintain")

COUNTS: Mapping[str, tuple[str, str]] = data_tables("garden_counts")
"""What phases count, in words: one of it, and several."""


def lines(report: Gardened, *, most: int = _SHOWN) -> Iterator[tuple[str, str]]:
    """Yield the lines of a run's report, each with a style.

    Args:
        report: The report of a run, or of a plan.
        most: Most changes of a run to list.
    """
    yield _headline(report), "bold"
    if report.resumed:
        run = f" (run {report.resumed_run})" if report.resumed_run else ""
        yield f"  {amount(report.resumed, 'change')} of an interrupted run came first{run}", ""
    yield from ((f"  {note}", "dim") for note in report.notes)
    planned = report.state == "planned"
    for phase in report.phases:
        yield f"  {phase.phase:<9} {_phase_summary(phase, planned=planned)}", ""
        for note in phase.notes:
            yield f"{_INDENT}{note}", "dim"
    shown = report.changes if planned else report.changes[:most]
    for change in shown:
        score = "" if change.score is None else f" ({change.score:.2f})"
        yield f"  {change.action:<8} {change.text}{score}: {change.reason}", ""
    more = sum(phase.proposals - phase.dropped for phase in report.phases) - len(shown)
    if more > 0:
        where = "--out FILE writes all" if planned else f"--json lists the first {SHOWN_CHANGES:,}"
        yield f"  and {amount(more, 'other')} ({where})", "dim"
    for refused in report.refused[:most]:
        yield f"  refused  {refused.text}: {refused.why}", ""
    yield from ((f"  {step}", "green") for step in _next_steps(report))


def _headline(report: Gardened) -> str:
    if report.state == "planned":
        return f"{report.project}: a plan, made in {report.seconds:.1f} s; nothing is changed"
    at = f"{report.started_at:%Y-%m-%d %H:%M} UTC"
    run = f", run {report.run}" if report.run else ", nothing was changed"
    run += ", undone since" if report.taken_back else ""
    return f"{report.project}: the run of {at}, {_ENDINGS[report.state]} {report.seconds:.1f} s{run}"


def _phase_summary(phase: PhaseReport, *, planned: bool) -> str:
    """Return one line on what a phase did."""
    state = "" if phase.state == "completed" else f"{phase.state}: "
    counted = ", ".join(_count_in_words(name, count) for name, count in phase.counts.items() if count)
    if phase.state == "failed" and not (phase.proposals or counted):
        return phase.state  # "nothing to do" would mean that the phase had looked
    if phase.phase in _WITHOUT_PROPOSALS and not phase.proposals:
        return f"{state}{counted or 'nothing to do'}"
    return f"{state}{_change_counts(phase, planned=planned)}{f'; {counted}' if counted else ''}"


def _change_counts(phase: PhaseReport, *, planned: bool) -> str:
    if not phase.proposals:
        return "nothing to change"
    left = phase.dropped + (0 if planned else phase.left)
    parts = (
        (phase.left if planned else phase.applied, "planned" if planned else "made"),
        (phase.refused, "refused"),
        (phase.standing, "there already"),
        (left, "left to the next run"),
    )
    counted = [(count, word) for count, word in parts if count]
    proposed = amount(phase.proposals, "change")
    if len(counted) == 1:
        return f"{proposed} {counted[0][1]}"
    return f"{proposed}: {', '.join(f'{count:,} {word}' for count, word in counted)}"


def _count_in_words(name: str, count: int) -> str:
    if name == "bytes_backed_up":
        return f"{count / 1000:,.0f} kB backed up"
    one, several = COUNTS.get(name, (name.replace("_", " "),) * 2)
    return amount(count, one, several)


def _next_steps(report: Gardened) -> Iterator[str]:
    """Yield what a person can do next."""
    waiting = sum(phase.counts.get("waiting", 0) for phase in report.phases if phase.phase == "review")
    if report.state == "planned":
        if any(phase.left for phase in report.phases):
            yield f"to make these changes: hydramem garden{f' --apply {report.file}' if report.file else ''}"
        return
    if report.refused:
        yield f"{amount(len(report.refused), 'change')} refused, as rows changed: the next run looks again"
    if waiting:
        yield f"to answer {amount(waiting, 'question')}: hydramem review"
    if report.run and not report.taken_back:
        yield f"to undo it: hydramem undo {report.run}"
