"""Maintain: the part of a night that changes no rows. Nothing of it holds writers up for long at a time.

What waits is done, the stores are put in order and set against each other, groups of entities get lasting
names, and a backup is made.
"""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

from hydramem.core.errors import HydraMemError
from hydramem.core.results.garden_results import PhaseState
from hydramem.core.results.knowledge_results import Cutoffs
from hydramem.core.results.upkeep_results import BackedUp, Drained
from hydramem.garden.phases.lasting_communities import regroup
from hydramem.garden.proposals.phase_context import PhaseContext, PhaseOutcome
from hydramem.storage.repair.doctor import Sampled

_DRAIN_SHARE = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class Upkeep:
    """What a store can do for its own order, as callables: garden does not know opened stores.

    Attributes:
        drain: Does what was left for later, for so many seconds at most.
        compact: Puts the vectors in order where that pays.
        compare: Sets vectors and graph against each other.
        checkpoint: Folds the graph's log into its file.
        backup: Makes a rolling backup; None where none is kept.
    """

    drain: Callable[[float], Drained]
    compact: Callable[[], None]
    compare: Callable[[], Sampled]
    checkpoint: Callable[[], None]
    backup: Callable[[], BackedUp] | None = None


@dataclass(slots=True)
class _Report:
    counts: Counter[str]
    notes: list[str]
    ground: PhaseContext
    incomplete: int = 0
    tried: int = 0

    def does(self, what: str, work: Callable[[], object]) -> None:
        """Do one thing of the upkeep; one that fails does not cost the others theirs, and is told of."""
        self.tried += 1
        try:
            work()
        except HydraMemError as error:
            self.incomplete += 1
            self.notes.append(f"{what}: {error}.")
        self.ground.progress(self.tried, 6)

    def lacks(self, note: str) -> None:
        """Tell of what is not as it should be."""
        self.incomplete += 1
        self.notes.append(note)


def maintain(ground: PhaseContext, upkeep: Upkeep) -> PhaseOutcome:
    """Do what keeps a store quick and safe.

    Args:
        ground: The project, and the budget of the phase.
        upkeep: What is done to the store.
    """
    report = _Report(Counter(), [], ground)
    report.does("what was left for later", lambda: _drain(ground, upkeep, report))
    report.does("vectors", upkeep.compact)
    report.does("comparison", lambda: _compare(upkeep, report))
    report.does("communities", lambda: _regroup(ground, report))
    report.does("checkpoint", upkeep.checkpoint)
    if upkeep.backup is not None:
        make = upkeep.backup
        report.does("backup", lambda: _backup(make, report))
    report.counts["memories_expired"] = ground.graph.past(Cutoffs(at=ground.now)).expired
    state: PhaseState = "completed"
    if report.incomplete:
        state = "failed" if report.incomplete >= report.tried else "partial"
    return PhaseOutcome(
        counts=dict(report.counts), notes=tuple(report.notes), state=state, usage=ground.budget.usage
    )


def _drain(ground: PhaseContext, upkeep: Upkeep, report: _Report) -> None:
    drained = upkeep.drain(ground.settings.garden.phase_seconds * _DRAIN_SHARE)
    report.counts["jobs_done"] = drained.done
    ground.budget.spend(drained.usage)
    if drained.left or drained.failed:
        report.lacks(
            f"{drained.left} jobs wait and {drained.failed} were given up; `hydramem jobs` says why."
        )


def _compare(upkeep: Upkeep, report: _Report) -> None:
    found = upkeep.compare()
    report.counts["rows_compared"] = found.compared
    report.counts["rows_differing"] = found.differing
    if found.differing:
        report.lacks(
            f"{found.differing} of {found.compared} rows differ between graph and vectors; "
            "`hydramem doctor --fix` rebuilds them."
        )


def _regroup(ground: PhaseContext, report: _Report) -> None:
    groups, failures = regroup(ground)
    report.counts["communities"] = len(groups)
    for failure in failures:
        report.lacks(failure)


def _backup(make: Callable[[], BackedUp], report: _Report) -> None:
    made = make()
    report.counts["bytes_backed_up"] = made.bytes
    report.counts["backups_removed"] = len(made.removed)
