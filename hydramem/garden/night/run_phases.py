"""Tend: a night of the gardener. Every phase looks at the memory as it is at nightfall and says what it would
change; the plan is written down; its proposals are made in small batches under one run, which can be undone.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import chain
from pathlib import Path
from time import perf_counter
from typing import get_args

from hydramem.core.errors import HydraMemError, InvalidInputError, StorageError
from hydramem.core.ids import new_id
from hydramem.core.results.garden_results import (
    SHOWN_CHANGES,
    Gardened,
    NightState,
    PhaseReport,
    ProposedChange,
    RefusedChange,
)
from hydramem.core.row_types import Phase
from hydramem.garden.night.apply import Applied, WriteAccess, apply
from hydramem.garden.proposals.exclusions import save_undecided_pairs
from hydramem.garden.proposals.phase_context import PhaseContext, PhaseOutcome, PhaseStep
from hydramem.garden.proposals.plan_file import GardenPlan, may_become_a_plan, ordered, read_plan, write_plan
from hydramem.garden.proposals.proposal import ClaimedRows, Proposal
from hydramem.storage.undo.undo import is_undone
from hydramem.text.shown_text import amount

_LAST: tuple[Phase, ...] = ("review",)
"""Phases that propose nothing, and look once everything is made."""

UNFINISHED = "unfinished.jsonl"
"""The plan that is being applied; where it is there at the start of a night, the one before was cut short."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GardenRun:
    """What a night is given.

    Attributes:
        phases: Which phases run; they run in the order of the night.
        steps: What each phase does.
        ground: Returns what a phase looks at, with a budget of its own.
        hands: What it takes to write.
        folder: Where the gardener keeps plans; None where nothing is kept.
        upkeep: The part that changes no rows, and runs last; None where only a plan is asked for.
        key: Returns what plans are sealed with.
        began: Called with each phase when it begins.
    """

    project: str
    phases: Sequence[Phase]
    steps: Mapping[Phase, PhaseStep]
    ground: Callable[[Phase], PhaseContext]
    hands: WriteAccess
    folder: Path | None
    now: datetime
    upkeep: Callable[[PhaseContext], PhaseOutcome] | None = None
    key: Callable[[], bytes] = lambda: b""
    began: Callable[[Phase], None] = lambda phase: None

    @property
    def unfinished(self) -> Path | None:
        """Where the plan is that is being applied; None where nothing is kept."""
        return None if self.folder is None else self.folder / UNFINISHED


@dataclass(frozen=True, slots=True, kw_only=True)
class _Resumed:
    """What became of an interrupted night: changes made now, their run, and what there is to say."""

    made: int = 0
    run: str | None = None
    notes: tuple[str, ...] = ()


@dataclass(slots=True, kw_only=True)
class _Planned:
    outcomes: dict[Phase, PhaseOutcome] = field(default_factory=dict)
    seconds: dict[Phase, float] = field(default_factory=dict)
    dropped: dict[Phase, int] = field(default_factory=dict)
    proposals: tuple[Proposal, ...] = ()


def plan(night: GardenRun, *, out: Path | None = None) -> Gardened:
    """Say what a night would change, and change nothing.

    Args:
        night: The night.
        out: Where to write the plan, for `apply_file`.

    Raises:
        InvalidInputError: The file holds something that is no plan.
        StorageError: The plan cannot be written there.
    """
    started = perf_counter()
    if out is not None:
        _check_place(out)
    found = _look(replace(night, ground=lambda phase: replace(night.ground(phase), keeps=False)))
    made = GardenPlan(project=night.project, run=new_id("w"), made_at=night.now, proposals=found.proposals)
    if out is not None:
        write_plan(made, out, key=night.key())
    return _told(night, found, None, run=None, seconds=perf_counter() - started, file=out)


def _check_place(out: Path) -> None:
    try:
        if out.is_dir() or not out.absolute().parent.is_dir():
            raise StorageError(f"{out}: the plan cannot be written: give a file in a folder that is there")
        is_free = may_become_a_plan(out)
    except OSError as error:
        raise StorageError(f"{out}: the plan cannot be written: {error.strerror or error}") from error
    except ValueError as error:  # a NUL
        raise InvalidInputError(f"out: {str(out)[:200]!r} cannot be a path") from error
    if not is_free:
        raise InvalidInputError(f"{out}: holds something that is no plan; name a new file")


def run_phases(night: GardenRun) -> Gardened:
    """Plan a night and make what it planned, after what an interrupted night before left to do."""
    started = perf_counter()
    resumed = _resume(night)
    found = _look(replace(night, phases=[phase for phase in night.phases if phase not in _LAST]))
    _keep_doubts(night, found)
    made = GardenPlan(project=night.project, run=new_id("w"), made_at=night.now, proposals=found.proposals)
    done = _make(night, made)
    _walk(night, _LAST, found)
    if night.upkeep is not None and "maintain" in night.phases:
        _step(night, "maintain", night.upkeep, found)
    seconds = perf_counter() - started
    return _told(night, found, done, run=made.run, seconds=seconds, resumed=resumed)


def apply_file(night: GardenRun, file: Path) -> Gardened:
    """Make exactly what a plan's file says; what rests on rows that changed since is refused.

    Lines that were taken out of the file are not made; a line that was changed is refused with the file.

    Raises:
        InvalidInputError: The file is no plan of this project.
    """
    started = perf_counter()
    given = read_plan(file, project=night.project, key=night.key())
    if is_undone(given.run, night.hands.graph):
        # It was made and taken back: made again it is another run, that can be taken back in its turn.
        given = replace(given, run=new_id("w"))
    done = _make(night, given)
    found = _Planned(proposals=given.proposals)
    seconds = perf_counter() - started
    notes = (f"{amount(given.struck, 'change')} of the plan taken out of its file.",) if given.struck else ()
    report = _told(night, found, done, run=given.run, seconds=seconds, file=file)
    return replace(report, notes=(*report.notes, *notes))


def _look(night: GardenRun) -> _Planned:
    found = _Planned()
    _walk(night, get_args(Phase), found)
    kept: list[Proposal] = []
    taken = ClaimedRows()
    for proposal in ordered([each for one in found.outcomes.values() for each in one.proposals]):
        if taken.take(proposal) is None:
            kept.append(proposal)
        else:
            found.dropped[proposal.phase] = found.dropped.get(proposal.phase, 0) + 1
    found.proposals = tuple(kept)
    return found


def _walk(night: GardenRun, phases: Sequence[Phase], found: _Planned) -> None:
    """Take the steps of those phases that the night has, in their order."""
    for phase in phases:
        if phase in night.phases and phase in night.steps:
            _step(night, phase, night.steps[phase], found)


def _step(night: GardenRun, phase: Phase, step: PhaseStep, found: _Planned) -> None:
    night.began(phase)
    started = perf_counter()
    try:
        outcome = step(night.ground(phase))
    except HydraMemError as error:
        # One phase that cannot do its work does not cost the others theirs; the report says so.
        outcome = PhaseOutcome(state="failed", notes=(str(error),))
    found.outcomes[phase] = outcome
    found.seconds[phase] = perf_counter() - started


def _keep_doubts(night: GardenRun, found: _Planned) -> None:
    sought = [one.doubts for one in found.outcomes.values() if one.doubts is not None]
    if sought and night.folder is not None:
        save_undecided_pairs(chain.from_iterable(sought), night.folder)


def _make(night: GardenRun, made: GardenPlan) -> Applied:
    unfinished = night.unfinished
    if unfinished is not None and made.proposals:
        unfinished.parent.mkdir(parents=True, exist_ok=True)
        write_plan(made, unfinished, key=night.key())
    done = apply(made.proposals, night.hands, run=made.run)
    if unfinished is not None and not done.left:
        unfinished.unlink(missing_ok=True)
    return done


def _resume(night: GardenRun) -> _Resumed:
    """Make what an interrupted night left to do, where it still may be done."""
    unfinished = night.unfinished
    if unfinished is None or not unfinished.exists():
        return _Resumed()
    try:
        before = read_plan(unfinished, project=night.project, key=night.key())
    except InvalidInputError as error:
        unfinished.unlink()
        return _Resumed(notes=(f"What an interrupted night left to do is given up: {error}.",))
    if is_undone(before.run, night.hands.graph):
        unfinished.unlink()
        return _Resumed(notes=(f"The rest of {before.run} is not made: it was taken back.",))
    done = apply(before.proposals, night.hands, run=before.run)
    if not done.left:
        unfinished.unlink()
    return _Resumed(made=len(done.made), run=before.run)


def interrupted(night: GardenRun) -> Gardened | None:
    """Return what there is to say of a night that was cut short; None where none was."""
    unfinished = night.unfinished
    if unfinished is None or not unfinished.exists():
        return None
    try:
        before = read_plan(unfinished, project=night.project, key=night.key())
    except InvalidInputError:
        return None
    taken_back = is_undone(before.run, night.hands.graph)
    note = "It was cut short, or goes on still; the next night makes what is left of it."
    if taken_back:
        note = "It was cut short; what is left of it is not made."
    return Gardened(
        project=night.project,
        run=before.run,
        started_at=before.made_at,
        seconds=0.0,
        state="partial",
        taken_back=taken_back,
        notes=(note,),
    )


def _told(
    night: GardenRun,
    found: _Planned,
    done: Applied | None,
    *,
    run: str | None,
    seconds: float,
    resumed: _Resumed | None = None,
    file: Path | None = None,
) -> Gardened:
    phases = [phase for phase in get_args(Phase) if phase in found.outcomes]
    if not found.outcomes:
        phases = [phase for phase in get_args(Phase) if any(each.phase == phase for each in found.proposals)]
    reports = tuple(_report(phase, found, done) for phase in phases)
    refused = {} if done is None else done.refused
    return Gardened(
        project=night.project,
        run=run if done is not None and (done.made or (done.standing and _is_known(run, night))) else None,
        started_at=night.now,
        seconds=seconds,
        state="planned" if done is None else _worst(reports),
        phases=reports,
        resumed=0 if resumed is None else resumed.made,
        resumed_run=None if resumed is None or not resumed.made else resumed.run,
        notes=() if resumed is None else resumed.notes,
        changes=tuple(_shown(each) for each in found.proposals[:SHOWN_CHANGES]),
        refused=tuple(
            RefusedChange(id=each.id, text=each.text, why=refused[each.id])
            for each in found.proposals
            if each.id in refused
        ),
        file=None if file is None else str(file),
    )


def _is_known(run: str | None, night: GardenRun) -> bool:
    """Say whether a run wrote something: what stands may be another's work."""
    return run is not None and bool(night.hands.graph.changes(run=run))


def _report(phase: Phase, found: _Planned, done: Applied | None) -> PhaseReport:
    outcome = found.outcomes.get(phase, PhaseOutcome())
    own = {each.id for each in found.proposals if each.phase == phase}
    kept, dropped = len(own), found.dropped.get(phase, 0)
    became = done or Applied()
    counted = {
        "applied": len(own.intersection(became.made)),
        "refused": len(own.intersection(became.refused)),
        "standing": len(own.intersection(became.standing)),
    }
    left = kept - sum(counted.values())
    return PhaseReport(
        phase=phase,
        state="partial" if done is not None and left and outcome.state == "completed" else outcome.state,
        proposals=kept + dropped,
        dropped=dropped,
        left=left,
        counts=outcome.counts,
        notes=outcome.notes,
        usage=outcome.usage,
        seconds=found.seconds.get(phase, 0.0),
        **counted,
    )


def _worst(reports: Sequence[PhaseReport]) -> NightState:
    states = {report.state for report in reports}
    return "failed" if "failed" in states else "partial" if "partial" in states else "completed"


def _shown(proposal: Proposal) -> ProposedChange:
    return ProposedChange(
        id=proposal.id,
        phase=proposal.phase,
        action=proposal.action,
        target=proposal.target,
        text=proposal.text,
        reason=proposal.reason,
        score=proposal.score,
    )
