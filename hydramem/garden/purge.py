"""Purge: changes older than `limits.change_days` are taken out run by run, and nothing of them can be undone.

A run goes whole, so that none is undone by halves; one that is too large for a batch says so in each part.
What a person took back is remembered in the Change that tells of the purge: it is not done again.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from hydramem.garden.ground import Ground
from hydramem.garden.proposal import Proposal
from hydramem.storage.changes import PURGED, Purged, purges
from hydramem.storage.jobs import job_payload as told_by
from hydramem.storage.quotas import cutoffs
from hydramem.storage.store import EndedRun, GraphStore, Listing
from hydramem.storage.write import Removal, Write
from hydramem.storage.write_validation import batches
from hydramem.text.escaping import amount

_MOST = 20_000
"""Changes that go in a night; the next night takes up the rest."""

_TOGETHER = 200
"""Changes that go together: several such go in one write, in hundredths of a second on either engine."""

_MOST_JOBS = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class _Undoing:
    """What was undone in a project.

    Attributes:
        of: By run that undid, the runs and changes that it undid.
        targets: Rows that were put back.
    """

    of: Mapping[str, frozenset[str]]
    targets: frozenset[str]


def old_changes(ground: Ground, counts: Counter[str]) -> list[Proposal]:
    """Return what takes out the changes that `limits` keeps no longer; nothing where it keeps all.

    Args:
        ground: What is looked at.
        counts: Gains how many there are.
    """
    before = cutoffs(ground.settings.limits, ground.now).changes
    if before is None:
        return []
    ended = ground.graph.ended_runs(ground.project, before, most=_MOST)
    undoing, going_on = _undoing(ground), _going_on(ground.graph)
    runs = [
        run for run in ended if run.id not in going_on and not _undoes_what_is_there(run, undoing, ground)
    ]
    counts["changes_too_old"] = sum(len(run.changes) for run in runs)
    remembered = _remembered(runs, undoing, ground) if runs else {}
    return [_proposal(part, remembered, ground) for part in _parts(runs)]


def _undoing(ground: Ground) -> _Undoing:
    of: dict[str, set[str]] = {}
    rows = ground.graph.changes(project=ground.project, operation="undo")
    for change in rows:
        # Its lead names the run or change that it undid; the others name rows.
        if change.run is not None and change.target.startswith(("w_", "x_")):
            of.setdefault(change.run, set()).add(change.target)
    return _Undoing(
        of={run: frozenset(undone) for run, undone in of.items()},
        targets=frozenset(change.target for change in rows),
    )


def _going_on(graph: GraphStore) -> frozenset[str]:
    """Return the runs that a job still is to write in."""
    page = Listing(limit=_MOST_JOBS)
    return frozenset(
        str(told_by(job)["run"]) for job in graph.jobs(page, states=("waiting", "running", "failed"))
    )


def _undoes_what_is_there(run: EndedRun, undoing: _Undoing, ground: Ground) -> bool:
    """Say whether a run undid one that is still known, which would look as if it stood."""
    undone = undoing.of.get(run.id, frozenset())
    return any(ground.graph.changes(run=id) or ground.graph.changes(id=id) for id in sorted(undone))


def _remembered(runs: Sequence[EndedRun], undoing: _Undoing, ground: Ground) -> Mapping[str, frozenset[str]]:
    """Return what only some changes tell of what a person took back, by their ids."""
    going = {run.id for run in runs}
    found: dict[str, frozenset[str]] = {}
    for id in sorted(going.intersection(frozenset[str]().union(*undoing.of.values()))):
        for change in ground.graph.changes(run=id):
            if change.operation == "garden" and change.target in undoing.targets:
                found[change.id] = frozenset([change.target])
    for change in ground.graph.changes(project=ground.project, operation="split"):
        if change.run in going:
            found[change.id] = frozenset([change.target])
    for change, gone in purges(ground.graph):
        if change.run in going and change.project == ground.project:
            found[change.id] = frozenset(gone.taken_back)
    return found


@dataclass(slots=True, kw_only=True)
class _Part:
    """Changes that go together: of whole runs, or of one that is too large."""

    runs: list[EndedRun] = field(default_factory=list)
    changes: list[str] = field(default_factory=list)
    whole: bool = True


def _parts(runs: Sequence[EndedRun]) -> Iterator[_Part]:
    small = [run for run in runs if len(run.changes) <= _TOGETHER]
    part = _Part()
    for run in small:
        if len(part.changes) + len(run.changes) > _TOGETHER:
            yield part
            part = _Part()
        part.runs.append(run)
        part.changes.extend(run.changes)
    if part.runs:
        yield part
    for run in runs:
        if len(run.changes) > _TOGETHER:
            for ids in batches(run.changes, _TOGETHER):
                yield _Part(runs=[run], changes=ids, whole=False)


def _proposal(part: _Part, remembered: Mapping[str, frozenset[str]], ground: Ground) -> Proposal:
    gone = Purged(
        changes=len(part.changes),
        runs=len(part.runs) if part.whole else 0,
        until=max(run.ended_at for run in part.runs),
        part_of=None if part.whole else part.runs[0].id,
        taken_back=tuple(sorted({id for each in part.changes for id in remembered.get(each, ())})),
    )
    which = amount(len(part.runs), "run") if part.whole else f"run {part.runs[0].id}"
    return Proposal(
        project=ground.project,
        phase="prune",
        action="remove",
        target=PURGED,
        text=f"{amount(gone.changes, 'change')} of {which}, the last of {gone.until:%Y-%m-%d}",
        reason=f"Changes are kept for {amount(ground.settings.limits.change_days, 'day')}.",
        write=Write(changes=(), removed=Removal(changes=tuple(part.changes))),
        told=gone.told,
    )
