"""Distill: what was said in sessions becomes memories, by a model, before the other phases look.

It is the one phase that writes by itself: each fact goes through `remember`, in the run of the gardener, so
that the other phases see what came of it. Where only a plan is asked for, it counts what waits.
"""

from collections.abc import Callable, Iterator

from hydramem.core.errors import ModelError, ModelReplyError
from hydramem.core.results.garden_results import PhaseState
from hydramem.core.row_types import Session, Usage
from hydramem.garden.proposals.phase_context import PhaseContext, PhaseOutcome, PhaseWork
from hydramem.ingest.memories.distill.distill import Distillation, distill
from hydramem.ingest.memories.distill.session_turns import turns_waiting
from hydramem.storage.store import Listing

_MOST_SESSIONS = 2000

Prepare = Callable[[], Distillation | None]
"""Returns what distills sessions; None where they stay logs."""


def distill_sessions(context: PhaseContext, prepare: Prepare, *, only_plan: bool) -> PhaseOutcome:
    """Distill the sessions in which something was said since they were distilled, the oldest first.

    Args:
        context: Has the budget.
        prepare: Returns what distilling takes.
        only_plan: Count what waits, and change nothing.
    """
    work = PhaseWork(context)
    try:
        distillation = prepare()
    except ModelError as error:
        work.notes.append(f"The model cannot be asked: {error}.")
        return work.outcome((), state="failed")
    if distillation is None:
        return work.outcome(())
    waiting = list(_waiting(context))
    work.counts["sessions_waiting"] = len(waiting)
    work.counts["turns_waiting"] = sum(turns for _, turns in waiting)
    if only_plan:
        return work.outcome(())
    return work.outcome((), state=_distilled(waiting, distillation, work))


def _waiting(context: PhaseContext) -> Iterator[tuple[Session, int]]:
    """Yield sessions with the number of their turns that wait, the oldest first."""
    newest = context.graph.list_sessions(context.project, Listing(limit=_MOST_SESSIONS))
    for row in reversed(newest):
        if turns := turns_waiting(row, context.graph):
            yield row, turns


def _distilled(
    waiting: list[tuple[Session, int]], distillation: Distillation, work: PhaseWork
) -> PhaseState | None:
    """Distill sessions within the budget; return the state of the phase where calls failed."""
    budget, read, failed = work.context.budget, 0, False

    def spend(usage: Usage) -> str | None:
        budget.spend(usage)
        return budget.over

    for done, (session, _) in enumerate(waiting, start=1):
        if budget.over:
            work.notes.append(f"{len(waiting) - done + 1} sessions wait: {budget.over}.")
            break
        try:
            found = distill(session.name, distillation, spend=spend)
        except ModelReplyError as error:
            budget.spend(Usage(calls=1))
            work.notes.append(f"{session.name}: the model's reply was refused: {error}.")
            failed = True
        except ModelError as error:
            work.notes.append(f"The model cannot be asked: {error}.")
            return "partial" if read else "failed"
        else:
            read += 1
            work.counts["turns_read"] += found.turns
            work.counts["facts"] += len(found.memories)
            work.counts["facts_dropped"] += found.dropped
            work.notes += [f"{session.name}: {note}" for note in found.notes]
            failed |= found.failed
        work.context.progress(done, len(waiting))
    if failed:
        return "partial" if read else "failed"
    return None
