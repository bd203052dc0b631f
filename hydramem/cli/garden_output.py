"""A night on a terminal: a line for each phase, what it changed, and what a person does next."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from hydramem.core.results.garden_results import SHOWN_CHANGES, Gardened, PhaseReport
from hydramem.text.shown_text import amount

if TYPE_CHECKING:
    from rich.console import Console

_SHOWN = 20
"""Changes of a night that are listed; a plan lists all of them."""

_INDENT = " " * 12

_ENDED = {"completed": "completed in", "partial": "done in part, in", "failed": "failed after"}

_CHANGING_NOTHING = ("review", "maintain")

COUNTS = {
    "accepted": ("accepted", "accepted"),
    "backups_removed": ("old backup removed", "old backups removed"),
    "changes_too_old": ("change past its time", "changes past their time"),
    "chunks_looked_at": ("memory looked at", "memories looked at"),
    "clashes_of_seeming_types": (
        "clash of a type that only seems to have one object",
        "clashes of types that only seem to have one object",
    ),
    "clashes_settled": ("clash settled", "clashes settled"),
    "communities": ("community", "communities"),
    "conflict": ("conflict", "conflicts"),
    "deferred": ("left open", "left open"),
    "documents_out_of_use": ("document out of use makes room", "documents out of use make room"),
    "entities_looked_at": ("entity looked at", "entities looked at"),
    "entities_maybe_one": ("pair of entities may be one", "pairs of entities may be one"),
    "entities_merged": ("entity is one with another", "entities are one with another"),
    "entities_too_large": ("entity too large to merge unasked", "entities too large to merge unasked"),
    "entities_unnamed": ("entity that nothing names", "entities that nothing names"),
    "inferred": ("inferred", "inferred"),
    "jobs_done": ("job done", "jobs done"),
    "judged": ("candidate judged", "candidates judged"),
    "kept_though_doubtful": ("kept though doubtful", "kept though doubtful"),
    "left_to_another_model": ("left to another model", "left to another model"),
    "links_loose": ("link that is weak or old", "links that are weak or old"),
    "memories_alike": ("pair of memories says the same", "pairs of memories say the same"),
    "memories_ended": ("memory gives way to a newer one", "memories give way to newer ones"),
    "memories_expired": ("memory has expired", "memories have expired"),
    "memories_looked_at": ("memory looked at", "memories looked at"),
    "memories_maybe_alike": ("pair of memories may say the same", "pairs of memories may say the same"),
    "memories_over_limit": ("memory over the limit", "memories over the limit"),
    "names_compared": ("pair of names compared", "pairs of names compared"),
    "never_recalled": ("memory alone and never recalled", "memories alone and never recalled"),
    "pairs_named_together": ("pair of entities named together", "pairs of entities named together"),
    "pairs_near": ("pair of entities near each other", "pairs of entities near each other"),
    "passages_repeated": ("passage seen again and again", "passages seen again and again"),
    "quarantined": ("memory held back", "memories held back"),
    "recalled_often": ("memory recalled in several sessions", "memories recalled in several sessions"),
    "rejected": ("rejected", "rejected"),
    "relation": ("relation left open", "relations left open"),
    "relations_clashing": ("relation that clashes", "relations that clash"),
    "relations_looked_at": ("relation looked at", "relations looked at"),
    "relations_scored": ("relation scored", "relations scored"),
    "relations_spurious": ("looks wrong", "look wrong"),
    "rows_compared": ("row compared", "rows compared"),
    "rows_differing": ("row differs", "rows differ"),
    "rows_kept_long_enough": ("row kept long enough", "rows kept long enough"),
    "same_entity": ("pair of names", "pairs of names"),
    "same_memory": ("pair of memories", "pairs of memories"),
    "spurious_believed": ("of them believed by verification", "of them believed by verification"),
    "spurious_protected": ("of them protected", "of them protected"),
    "spurious_taken_back": ("of them brought back before", "of them brought back before"),
    "still_accepted": ("accepted as before", "accepted as before"),
    "still_open": ("open as before", "open as before"),
    "told_by_model": ("told by the model", "told by the model"),
    "too_weak": ("with too little to speak for it", "with too little to speak for them"),
    "waiting": ("question waits for a person", "questions wait for a person"),
}
"""What phases count, in words: one of it, and several."""


def lines(night: Gardened, *, most: int = _SHOWN) -> Iterator[tuple[str, str]]:
    """Yield a night as a person reads it, line by line, each with a style.

    Args:
        night: The night, or the plan of one.
        most: How many changes of a night are listed.
    """
    yield _headline(night), "bold"
    if night.resumed:
        run = f" (run {night.resumed_run})" if night.resumed_run else ""
        yield f"  {amount(night.resumed, 'change')} of an interrupted night came first{run}", ""
    yield from ((f"  {note}", "dim") for note in night.notes)
    planned = night.state == "planned"
    for phase in night.phases:
        yield f"  {phase.phase:<9} {_phase(phase, planned=planned)}", ""
        for note in phase.notes:
            yield f"{_INDENT}{note}", "dim"
    shown = night.changes if planned else night.changes[:most]
    for change in shown:
        score = "" if change.score is None else f" ({change.score:.2f})"
        yield f"  {change.action:<8} {change.text}{score}: {change.reason}", ""
    more = sum(phase.proposals - phase.dropped for phase in night.phases) - len(shown)
    if more > 0:
        where = "--out FILE writes all" if planned else f"--json lists the first {SHOWN_CHANGES:,}"
        yield f"  and {amount(more, 'other')} ({where})", "dim"
    for refused in night.refused[:most]:
        yield f"  refused  {refused.text}: {refused.why}", ""
    yield from ((f"  {told}", "green") for told in _next(night))


def _headline(night: Gardened) -> str:
    if night.state == "planned":
        return f"{night.project}: a plan, made in {night.seconds:.1f} s; nothing is changed"
    at = f"{night.started_at:%Y-%m-%d %H:%M} UTC"
    run = f", run {night.run}" if night.run else ", nothing was changed"
    run += ", taken back since" if night.taken_back else ""
    return f"{night.project}: the night of {at}, {_ENDED[night.state]} {night.seconds:.1f} s{run}"


def _phase(phase: PhaseReport, *, planned: bool) -> str:
    """Say in a line what a phase did."""
    state = "" if phase.state == "completed" else f"{phase.state}: "
    counted = ", ".join(_counted(name, count) for name, count in phase.counts.items() if count)
    if phase.state == "failed" and not (phase.proposals or counted):
        return phase.state  # "nothing to do" is what a phase says that looked
    if phase.phase in _CHANGING_NOTHING and not phase.proposals:
        return f"{state}{counted or 'nothing to do'}"
    return f"{state}{_changes(phase, planned=planned)}{f'; {counted}' if counted else ''}"


def _changes(phase: PhaseReport, *, planned: bool) -> str:
    if not phase.proposals:
        return "nothing to change"
    left = phase.dropped + (0 if planned else phase.left)
    parts = (
        (phase.left if planned else phase.applied, "planned" if planned else "made"),
        (phase.refused, "refused"),
        (phase.standing, "there already"),
        (left, "left to the next night"),
    )
    told = [(count, word) for count, word in parts if count]
    if len(told) == 1:
        return f"{amount(phase.proposals, 'change')} {told[0][1]}"
    return f"{amount(phase.proposals, 'change')}: {', '.join(f'{count:,} {word}' for count, word in told)}"


def _counted(name: str, count: int) -> str:
    if name == "bytes_backed_up":
        return f"{count / 1000:,.0f} kB backed up"
    one, several = COUNTS.get(name, (name.replace("_", " "),) * 2)
    return amount(count, one, several)


def _next(night: Gardened) -> Iterator[str]:
    """Yield what a person may do now."""
    waiting = sum(phase.counts.get("waiting", 0) for phase in night.phases if phase.phase == "review")
    if night.state == "planned":
        if any(phase.left for phase in night.phases):
            yield f"to make these changes: hydramem garden{f' --apply {night.file}' if night.file else ''}"
        return
    if night.refused:
        yield f"{amount(len(night.refused), 'change')} refused, as rows changed: the next night looks again"
    if waiting:
        yield f"to answer {amount(waiting, 'question')}: hydramem review"
    if night.run and not night.taken_back:
        yield f"to take it back: hydramem undo {night.run}"


def show_night(night: Gardened, out: "Console") -> None:
    """Write a night to a console."""
    from hydramem.cli.terminal import plain

    for line, style in lines(night):
        out.print(plain(line), markup=False, style=style or None)
