"""A run of the gardener: every phase reads the memory as it is when the run starts and proposes changes; the
plan is written down; its proposals are applied in small batches under one run id, which can be undone.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import chain
from pathlib import Path
from time import perf_counter
from typing import Any, get_args

from hydramem.core.errors import HydraMemError, InvalidInputError, StorageError
from hydramem.core.ids import new_id
from hydramem.core.results.garden_results import Gardened, StoreHealth
from hydramem.core.row_types import Chunk, Phase
from hydramem.core.runtime.freed_memory import return_freed_memory
from hydramem.core.stages import stage
from hydramem.garden.night.apply import Applied, WriteAccess, apply
from hydramem.garden.night.kept_plans import keep_plan
from hydramem.garden.night.night_summary import summary_of
from hydramem.garden.night.report import PhaseResults, report_of
from hydramem.garden.phases.infer.infer import infer
from hydramem.garden.phases.merge.merge import merge
from hydramem.garden.phases.prune.prune import prune
from hydramem.garden.phases.reuse_weights import reuse
from hydramem.garden.phases.supersede.supersede_relations import supersede
from hydramem.garden.phases.verify_deferred import verify
from hydramem.garden.proposals.compared_memories import save_compared
from hydramem.garden.proposals.exclusions import save_undecided_pairs, undecided_pairs
from hydramem.garden.proposals.phase_context import PhaseContext, PhaseOutcome, PhaseStep
from hydramem.garden.proposals.plan_file import GardenPlan, may_become_a_plan, ordered, read_plan, write_plan
from hydramem.garden.proposals.proposal import ClaimedRows, Proposal
from hydramem.garden.review.answers import counted
from hydramem.garden.review.questions import Case, cases
from hydramem.storage.changes import in_run
from hydramem.storage.undo.undo import is_undone
from hydramem.text.shown_text import amount


def review(context: PhaseContext) -> PhaseOutcome:
    """Count the questions that wait for a person, by kind; only a person decides them."""
    settings = context.settings
    found = cases(
        context.graph,
        context.snapshot,
        undecided_pairs(context.folder),
        functional=settings.verification.functional,
    )
    waiting = found[: settings.garden.review_limit]
    return PhaseOutcome(
        counts={"waiting": len(waiting), **counted(waiting)},
        health=_health(found),
        asked=next((case.question.text for case in waiting if _is_public(case)), ""),
    )


def _is_public(case: Case) -> bool:
    return not any(isinstance(row, Chunk) and row.private for row in case.rows)


def _health(found: Sequence[Case]) -> StoreHealth:
    kinds = Counter(case.question.kind for case in found)
    return StoreHealth(
        duplicates=kinds["same_memory"],
        stale_pairs=kinds["may_supersede"] + kinds["conflict"],
        split_names=kinds["same_entity"],
        doubtful_relations=kinds["relation"],
        questions=len(found),
    )


STEPS: Mapping[Phase, PhaseStep] = {
    "infer": infer,
    "verify": verify,
    "supersede": supersede,
    "merge": merge,
    "reuse": reuse,
    "prune": prune,
    "review": review,
}
"""The phases but two: `maintain`, which changes no rows and is `GardenRun.upkeep`, and `distill`, which needs
what remembers and is added by the caller."""

_AFTER_APPLYING: tuple[Phase, ...] = ("review",)
"""Phases that propose nothing and look once the proposals are applied."""

UNFINISHED = "unfinished.jsonl"
"""The plan that is being applied; where a run finds it at its start, the run before was interrupted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GardenRun:
    """What a run works with.

    Attributes:
        phases: Which phases run; their order is that of `Phase`.
        context: Returns the context of a phase, with a budget of its own.
        access: How proposals reach the stores.
        folder: Where the gardener keeps plans; None where nothing is kept.
        now: When the run started.
        steps: What each phase does.
        upkeep: The phase that changes no rows, and runs last; None where only a plan is asked for.
        key: Returns the key that signs plans.
        began: Called with each phase when it begins.
        planned: Called once everything is proposed: what follows needs no model of this process.
        interrupted: Called with the report of a run that a store's error ends, before that is raised.
    """

    project: str
    phases: Sequence[Phase]
    context: Callable[[Phase], PhaseContext]
    access: WriteAccess
    folder: Path | None
    now: datetime
    steps: Mapping[Phase, PhaseStep] = field(default_factory=lambda: STEPS)
    upkeep: PhaseStep | None = None
    key: Callable[[], bytes] = lambda: b""
    began: Callable[[Phase], None] = lambda phase: None
    planned: Callable[[], None] = lambda: None
    interrupted: Callable[[Gardened], None] = lambda report: None

    @property
    def unfinished(self) -> Path | None:
        """Where the plan is kept while it is applied; None where nothing is kept."""
        return None if self.folder is None else self.folder / UNFINISHED

    def interrupted_plan(self) -> GardenPlan | None:
        """Return the plan that an interrupted run left; None where none did.

        Raises:
            InvalidInputError: Its file is no plan any more.
        """
        if self.unfinished is None or not self.unfinished.exists():
            return None
        return read_plan(self.unfinished, project=self.project, key=self.key())


def plan(run: GardenRun, *, out: Path | None = None, keep: bool = False) -> Gardened:
    """Say what a run would change, and change nothing.

    Args:
        run: The run.
        out: Where to write the plan, for `apply_file`.
        keep: Whether the gardener's folder keeps the plan.

    Raises:
        InvalidInputError: The file holds something that is no plan.
        StorageError: The plan cannot be written there.
    """
    started = perf_counter()
    if out is not None:
        _check_file(out)
    results = _proposed(replace(run, context=lambda phase: replace(run.context(phase), saves_models=False)))
    made = _plan_of(run, results)
    if out is not None:
        write_plan(made, out, key=run.key())
    kept = keep and run.folder is not None
    if kept and run.folder is not None:
        keep_plan(made, run.folder, key=run.key())
    report = _report(run, results, None, started)
    return replace(report, file=None if out is None else str(out), plan=made.run if kept else None)


def _check_file(out: Path) -> None:
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


def _plan_of(run: GardenRun, results: PhaseResults) -> GardenPlan:
    return GardenPlan(project=run.project, run=new_id("w"), made_at=run.now, proposals=results.proposals)


def run_phases(run: GardenRun) -> Gardened:
    """Plan a run and apply its proposals, after those that an interrupted run left.

    Raises:
        StorageError: A store failed before all of them were made; the next run makes the rest.
    """
    started = perf_counter()
    resumed = _resume(run)
    early = [phase for phase in run.phases if phase not in _AFTER_APPLYING]
    id = new_id("w")
    with in_run(id):  # what `distill` writes belongs to it
        results = _proposed(replace(run, phases=early))
    run.planned()
    undecided = [one.undecided for one in results.outcomes.values() if one.undecided is not None]
    if undecided and run.folder is not None:
        save_undecided_pairs(chain.from_iterable(undecided), run.folder)
    made = replace(_plan_of(run, results), run=id)
    applied = _apply(run, made, results, started)
    _save_compared(run, results, applied)
    _take_steps(run, _AFTER_APPLYING, results)
    if run.upkeep is not None and "maintain" in run.phases:
        _take_step(run, "maintain", run.upkeep, results)
    report = _report(run, results, applied, started, id=made.run)
    return replace(report, **resumed)


def _save_compared(run: GardenRun, results: PhaseResults, applied: Applied) -> None:
    """Note which memories are compared; where changes are left to do, what they rest on is compared again."""
    if run.folder is None or applied.left:
        return
    for outcome in results.outcomes.values():
        if outcome.compared is not None:
            save_compared(outcome.compared, run.folder)


def apply_file(run: GardenRun, file: Path, *, leave_out: Sequence[str] = ()) -> Gardened:
    """Apply exactly the proposals of a plan's file; those that depend on rows that changed since are refused.

    Lines that were deleted from the file are not applied; with a line that was changed the file is refused.

    Args:
        run: The run.
        file: The plan's.
        leave_out: Ids of changes that are not made.

    Raises:
        InvalidInputError: The file is no plan of this project, or the plan has no change of an id.
        StorageError: A store failed before all of them were made; the next run makes the rest.
    """
    started = perf_counter()
    read = read_plan(file, project=run.project, key=run.key())
    if unknown := set(leave_out).difference(each.id for each in read.proposals):
        raise InvalidInputError(f"leave_out: the plan has no change {min(unknown)[:80]!r}")
    chosen = tuple(each for each in read.proposals if each.id not in leave_out)
    read = replace(read, proposals=chosen, struck=read.struck + len(read.proposals) - len(chosen))
    if is_undone(read.run, run.access.graph):
        # It was applied and undone: applied again it is another run, which can be undone in its turn.
        read = replace(read, run=new_id("w"))
    results = PhaseResults(proposals=read.proposals)
    applied = _apply(run, read, results, started)
    notes = (f"{amount(read.struck, 'change')} of the plan left out.",) if read.struck else ()
    report = _report(run, results, applied, started, id=read.run)
    return replace(report, file=str(file), notes=notes)


def interrupted(run: GardenRun) -> Gardened | None:
    """Return a report of an interrupted run; None where none was interrupted."""
    try:
        left = run.interrupted_plan()
    except InvalidInputError:
        return None
    if left is None:
        return None
    taken_back = is_undone(left.run, run.access.graph)
    note = "It was interrupted, or is still running; the next run applies what is left of it."
    if taken_back:
        note = "It was interrupted; what is left of it is not applied."
    return Gardened(
        project=run.project,
        run=left.run,
        started_at=left.made_at,
        seconds=0.0,
        state="partial",
        taken_back=taken_back,
        notes=(note,),
    )


def _proposed(run: GardenRun) -> PhaseResults:
    """Take the steps of a run; of proposals that conflict, the first and surest is kept."""
    results = PhaseResults()
    _take_steps(run, get_args(Phase), results)
    kept: list[Proposal] = []
    claimed = ClaimedRows()
    for proposal in ordered([each for one in results.outcomes.values() for each in one.proposals]):
        if claimed.claim(proposal) is None:
            kept.append(proposal)
        else:
            results.dropped[proposal.phase] = results.dropped.get(proposal.phase, 0) + 1
    results.proposals = tuple(kept)
    return results


def _take_steps(run: GardenRun, phases: Sequence[Phase], results: PhaseResults) -> None:
    for phase in phases:
        if phase in run.phases and phase in run.steps:
            _take_step(run, phase, run.steps[phase], results)


def _take_step(run: GardenRun, phase: Phase, step: PhaseStep, results: PhaseResults) -> None:
    run.began(phase)
    started = perf_counter()
    try:
        with stage(phase):
            outcome = step(run.context(phase))
    except HydraMemError as error:
        # A phase that fails does not stop the others; the report names it.
        outcome = PhaseOutcome(state="failed", notes=(str(error),))
    return_freed_memory()  # what a phase read is not needed by the next, and the allocators keep much of it
    results.outcomes[phase] = outcome
    results.seconds[phase] = perf_counter() - started


def _apply(run: GardenRun, made: GardenPlan, results: PhaseResults, started: float) -> Applied:
    """Apply a plan; its file is kept until all of it was tried.

    Raises:
        StorageError: A store failed; the run is reported as interrupted.
    """
    unfinished = run.unfinished
    if unfinished is not None and made.proposals:
        unfinished.parent.mkdir(parents=True, exist_ok=True)
        write_plan(made, unfinished, key=run.key())
    applied = apply(made.proposals, run.access, run=made.run)
    if unfinished is not None and not applied.left:
        unfinished.unlink(missing_ok=True)
    if applied.error is not None:
        raise _interruption(run, made, results, applied, applied.error, started) from applied.error
    return applied


def _interruption(
    run: GardenRun,
    made: GardenPlan,
    results: PhaseResults,
    applied: Applied,
    error: StorageError,
    started: float,
) -> StorageError:
    """Report a run that a store's error ends, without a look at the store; return the error that says so."""
    report = report_of(
        results,
        applied,
        project=run.project,
        started_at=run.now,
        seconds=perf_counter() - started,
        run=made.run,
    )
    note = f"{amount(len(applied.left), 'change')} left to the next run: {error}."
    run.interrupted(replace(report, state="interrupted", notes=(note,)))
    return type(error)(
        f"{error}; {run.project}: {len(applied.made)} of {amount(len(made.proposals), 'change')} are made in "
        f"the interrupted run {made.run}, and the next run makes the rest"
    )


def _resume(run: GardenRun) -> dict[str, Any]:
    """Apply what an interrupted run left, where that is possible; return the report's fields on it."""
    try:
        left = run.interrupted_plan()
    except InvalidInputError as error:
        note = f"What an interrupted run left to do is given up: {error}."
        return _given_up(run, note)
    if left is None:
        return {}
    if is_undone(left.run, run.access.graph):
        return _given_up(run, f"The rest of {left.run} is not applied: it was undone.")
    started, results = perf_counter(), PhaseResults(proposals=left.proposals)
    made = _apply(run, left, results, started).made
    return {"resumed": len(made), "resumed_run": left.run} if made else {}


def _given_up(run: GardenRun, note: str) -> dict[str, Any]:
    if run.unfinished is not None:
        run.unfinished.unlink()
    return {"notes": (note,)}


def _report(
    run: GardenRun, results: PhaseResults, applied: Applied | None, started: float, *, id: str = ""
) -> Gardened:
    # What the store had already may be the work of another run, and `distill` writes without a proposal.
    doubtful = applied is not None and (applied.standing or "distill" in results.outcomes)
    wrote = (applied is not None and applied.made) or (doubtful and run.access.graph.changes(run=id))
    report = report_of(
        results,
        applied,
        project=run.project,
        started_at=run.now,
        seconds=perf_counter() - started,
        run=id if wrote else None,
    )
    if applied is None:
        return report
    done = set(applied.made)
    made = [each for each in results.proposals if each.id in done]
    summary = summary_of(made, results.outcomes, run.access.graph, project=run.project, run=id)
    return replace(report, summary=summary)
