"""The report of a gardener's run as lines of text: its phases, its changes, and what a person can do next."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields

from hydramem.core.package_data import data_tables
from hydramem.core.results.garden_results import (
    SHOWN_CHANGES,
    Gardened,
    NightHealth,
    PhaseReport,
    StoreHealth,
)
from hydramem.text.shown_text import amount

_SHOWN = 20
"""Most changes of a run that are listed; a plan lists all of them."""

_INDENT = " " * 12
_PHASE_STATES = {"partial": "done in part", "failed": "failed"}
_DATE_WIDTH, _WIDTH = 16, 18
_WITHOUT_PROPOSALS = ("distill", "review", "maintain")

COUNTS: Mapping[str, tuple[str, str]] = data_tables("garden_counts")
"""What phases count, in words: one of it, and several."""


def lines(report: Gardened, *, verbose: bool = False, most: int = _SHOWN) -> Iterator[tuple[str, str]]:
    """Yield the lines of a run's report, each with a style.

    Args:
        report: The report of a run, or of a plan.
        verbose: Whether to list what each phase did, and single changes; a plan always does.
        most: Most changes of a run to list.
    """
    yield report.headline, "bold"
    if report.resumed:
        run = f" (run {report.resumed_run})" if report.resumed_run else ""
        yield f"  {amount(report.resumed, 'change')} of an interrupted run came first{run}", ""
    yield from ((f"  {note}", "dim") for note in report.notes)
    if verbose or report.state == "planned":
        yield from _details(report, most)
    else:
        yield from _summary(report)
    yield from ((f"  {step}", "green") for step in _next_steps(report))
    yield from _trend(report.trend)


def _summary(report: Gardened) -> Iterator[tuple[str, str]]:
    """Yield one line for each kind of change, and one for each phase that did not end as it should."""
    yield from ((f"  {line}", "") for line in report.summary)
    for phase in report.phases:
        if phase.state in ("partial", "failed"):
            why = phase.notes[0] if phase.notes else f"{amount(phase.left, 'change')} left to the next run"
            yield f"  {phase.phase:<8} {_PHASE_STATES[phase.state]}: {why}", "yellow"


def _details(report: Gardened, most: int) -> Iterator[tuple[str, str]]:
    """Yield what each phase did, and single changes."""
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


def _trend(nights: Sequence[NightHealth]) -> Iterator[tuple[str, str]]:
    """Yield a table of what waited after each run, the newest first, and the difference to the one before."""
    if not nights:
        return
    names = [each.name for each in fields(StoreHealth)]
    yield "  waiting after each run:", "bold"
    titles = [name.replace("_", " ").rjust(_WIDTH) for name in names]
    yield f"  {'run of':<{_DATE_WIDTH}} {' '.join(titles)}", "dim"
    for place, night in enumerate(nights):
        before = nights[place + 1].health if place + 1 < len(nights) else night.health
        cells = [_with_difference(getattr(night.health, name), getattr(before, name)) for name in names]
        yield f"  {night.started_at:%Y-%m-%d %H:%M} {' '.join(cell.rjust(_WIDTH) for cell in cells)}", ""


def _with_difference(now: int, before: int) -> str:
    return f"{now:,}" if now == before else f"{now:,} ({now - before:+,})"


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
            option = f" --apply {report.file}" if report.file else ""
            if report.plan and not report.file:
                option = f" --apply-kept {report.plan}"
            yield f"to make these changes: hydramem garden{option}"
        return
    if report.refused:
        yield f"{amount(len(report.refused), 'change')} refused, as rows changed: the next run looks again"
    if waiting and not any(line.kind == "asked" for line in report.summary):
        yield f"to answer {amount(waiting, 'question')}: hydramem review"
    if report.run and not report.taken_back:
        yield f"to undo all of it: hydramem undo {report.run}"
