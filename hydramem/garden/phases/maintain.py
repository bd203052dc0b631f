"""Maintain: the phase that changes no memory and blocks writers only for short moments.

It runs pending jobs, removes items that have expired, checkpoints the graph, compacts vectors, compares the
stores, names communities and makes a backup.
"""

from collections.abc import Callable
from dataclasses import dataclass

from hydramem.core.errors import HydraMemError
from hydramem.core.results.garden_results import PhaseState
from hydramem.core.results.knowledge_results import Cutoffs
from hydramem.core.results.upkeep_results import BackedUp, Drained
from hydramem.garden.phases.lasting_communities import regroup
from hydramem.garden.proposals.phase_context import PhaseContext, PhaseOutcome, PhaseWork
from hydramem.storage.repair.compare_stores import Sampled

_DRAIN_SHARE = 0.5
"""Share of the phase's time for pending jobs."""

_TASKS = 7


@dataclass(frozen=True, slots=True, kw_only=True)
class Upkeep:
    """The upkeep of an open store, as callables.

    Attributes:
        drain: Runs pending jobs, for so many seconds at most.
        expire: Removes items that have expired, and returns how many they were.
        compact: Compacts the vector store where that pays.
        compare: Compares samples of vectors and graph.
        checkpoint: Writes the graph's log into its file.
        backup: Makes a rolling backup; None where none are kept.
    """

    drain: Callable[[float], Drained]
    expire: Callable[[], int]
    compact: Callable[[], None]
    compare: Callable[[], Sampled]
    checkpoint: Callable[[], object]
    backup: Callable[[], BackedUp] | None = None


class _Tasks(PhaseWork):
    """The tasks of upkeep; one that fails does not stop the others."""

    tried = 0
    incomplete = 0

    def run(self, name: str, task: Callable[[], object]) -> None:
        """Run one task, and note why where it fails."""
        self.tried += 1
        try:
            task()
        except HydraMemError as error:
            self.note_problem(f"{name}: {error}.")
        self.context.progress(self.tried, _TASKS)

    def note_problem(self, note: str) -> None:
        """Note what is not as it should be."""
        self.incomplete += 1
        self.notes.append(note)


def maintain(context: PhaseContext, upkeep: Upkeep) -> PhaseOutcome:
    """Do what keeps a store fast and safe.

    Args:
        context: The project, and the budget of the phase.
        upkeep: The tasks of the open store.
    """
    tasks = _Tasks(context)
    tasks.run("what was left for later", lambda: _drain(upkeep, tasks))
    tasks.run("items", lambda: _expire(upkeep, tasks))
    # First: until then the engine holds in memory what the run has written.
    tasks.run("checkpoint", upkeep.checkpoint)
    tasks.run("vectors", upkeep.compact)
    tasks.run("comparison", lambda: _compare(upkeep, tasks))
    tasks.run("communities", lambda: _regroup(tasks))
    if upkeep.backup is not None:
        make = upkeep.backup
        tasks.run("backup", lambda: _backup(make, tasks))
    tasks.counts["memories_expired"] = context.graph.past(Cutoffs(at=context.clock)).expired
    state: PhaseState = "completed"
    if tasks.incomplete:
        state = "failed" if tasks.incomplete >= tasks.tried else "partial"
    return PhaseOutcome(
        counts=dict(tasks.counts), notes=tuple(tasks.notes), state=state, usage=context.budget.usage
    )


def _drain(upkeep: Upkeep, tasks: _Tasks) -> None:
    drained = upkeep.drain(tasks.context.settings.garden.phase_seconds * _DRAIN_SHARE)
    tasks.counts["jobs_done"] = drained.done
    tasks.context.budget.spend(drained.usage)
    if drained.left or drained.failed:
        tasks.note_problem(
            f"{drained.left} jobs wait and {drained.failed} were given up; `hydramem jobs` says why."
        )


def _expire(upkeep: Upkeep, tasks: _Tasks) -> None:
    tasks.counts["items_expired"] = upkeep.expire()


def _compare(upkeep: Upkeep, tasks: _Tasks) -> None:
    found = upkeep.compare()
    tasks.counts["rows_compared"] = found.compared
    tasks.counts["rows_differing"] = found.differing
    if found.differing:
        tasks.note_problem(
            f"{found.differing} of {found.compared} rows differ between graph and vectors; "
            "`hydramem doctor --fix` rebuilds them."
        )


def _regroup(tasks: _Tasks) -> None:
    groups, failures = regroup(tasks.context)
    tasks.counts["communities"] = len(groups)
    for failure in failures:
        tasks.note_problem(failure)


def _backup(make: Callable[[], BackedUp], tasks: _Tasks) -> None:
    made = make()
    tasks.counts["bytes_backed_up"] = made.bytes
    tasks.counts["backups_removed"] = len(made.removed)
