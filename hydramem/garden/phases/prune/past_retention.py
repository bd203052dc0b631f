"""What has been in the archive longer than `limits` keeps it is taken out; undo can still bring it back.

The one part of a night that destroys, and only what was configured to go: without limits, nothing does.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import TypeVar

from hydramem.core.row_types import Chunk, Document, Relation, Session
from hydramem.garden.proposals.exclusions import UndoneRows
from hydramem.garden.proposals.phase_context import PhaseContext
from hydramem.garden.proposals.proposal import Proposal, precondition_hash
from hydramem.ingest.knowledge.support import document_chunks
from hydramem.storage.changes import PURGED, Purged, purges
from hydramem.storage.chunk_filter import ChunkFilter
from hydramem.storage.jobs import job_payload as told_by
from hydramem.storage.quotas import cutoffs
from hydramem.storage.store import EndedRun, GraphStore, Listing
from hydramem.storage.write import Removal, Write
from hydramem.storage.write_validation import batches
from hydramem.text.shown_text import amount

_PAGE = 1000

_MOST = 5000
"""Rows of a kind that go in a night."""

_SHOWN = 80

_Row = TypeVar("_Row", Chunk, Document, Relation, Session)


def purged(ground: PhaseContext, undone: UndoneRows, counts: Counter[str]) -> list[Proposal]:
    """Return what goes for good: what is archived too long, and sessions that hold nothing."""
    until = cutoffs(ground.settings.limits, ground.now)
    proposals: list[Proposal] = []
    if until.archived is not None:
        proposals += _relations(ground, until.archived)
        proposals += _documents(ground, until.archived)
        proposals += _memories(ground, until.archived)
    if until.sessions is not None:
        proposals += _sessions(ground, until.sessions)
    kept = [each for each in proposals if each.target not in undone]
    counts["rows_kept_long_enough"] = len(kept)
    return kept


def _relations(ground: PhaseContext, until: datetime) -> Iterator[Proposal]:
    rows = _pages(lambda page: ground.graph.list_relations(ground.project, page, states=("archived",)))
    for row in rows:
        if _is_past(row, until):
            names = {each.id: each.name for each in ground.graph.entities((row.subject, row.object))}
            text = f"{names.get(row.subject, row.subject)} {row.type} {names.get(row.object, row.object)}"
            yield removed_chunks(row, text, Removal(relations=((row.subject, row.object, row.id),)))


def _documents(ground: PhaseContext, until: datetime) -> Iterator[Proposal]:
    """Yield a document with its chunks, where every one of them is past its time too."""
    rows = _pages(lambda page: ground.graph.list_documents(ground.project, page, states=("archived",)))
    for row in rows:
        chunks = document_chunks(row.id, ground.graph) if _is_past(row, until) else ()
        if _is_past(row, until) and all(_is_past(chunk, until) for chunk in chunks):
            gone = Removal(documents=(row.id,), chunks=tuple(chunk.id for chunk in chunks))
            yield removed_chunks(row, row.title or row.source, gone, chunks, without(chunks, ground))


def _memories(ground: PhaseContext, until: datetime) -> Iterator[Proposal]:
    where = ChunkFilter(projects=(ground.project,), states=("archived",))
    for row in _pages(lambda page: ground.graph.list_chunks(where, page)):
        if row.document is None and _is_past(row, until):
            flat = " ".join(row.text.split())[:_SHOWN]
            yield removed_chunks(row, flat, Removal(chunks=(row.id,)), (), without((row,), ground))


def _sessions(ground: PhaseContext, until: datetime) -> Iterator[Proposal]:
    for row in _pages(lambda page: ground.graph.list_sessions(ground.project, page)):
        where = ChunkFilter(sessions=(row.id,), states=())
        if row.last_at < until and not ground.graph.list_chunks(where, Listing(limit=1)):
            yield removed_chunks(row, row.name, Removal(sessions=(row.id,)))


def _pages(read: Callable[[Listing], Sequence[_Row]]) -> Iterator[_Row]:
    for offset in range(0, _MOST, _PAGE):
        page = read(Listing(limit=_PAGE, offset=offset))
        yield from page
        if len(page) < _PAGE:
            return


def _is_past(row: Chunk | Document | Relation, until: datetime) -> bool:
    retired = row.times.retired_at
    return row.state == "archived" and retired is not None and retired < until


def without(
    chunks: Sequence[Chunk], ground: PhaseContext
) -> tuple[tuple[Relation, ...], tuple[Relation, ...]]:
    """Return the relations that rest on chunks, as they are and without those among their evidence.

    Args:
        chunks: What goes.
        ground: Where it is.
    """
    gone = {chunk.id for chunk in chunks}
    named = sorted({mention.entity for mention in ground.graph.mentions(sorted(gone))})
    before = [row for row in (ground.graph.relations(named) if named else ()) if gone & set(row.evidence)]
    after = [replace(row, evidence=tuple(id for id in row.evidence if id not in gone)) for row in before]
    return tuple(before), tuple(after)


def removed_chunks(
    row: Chunk | Document | Relation | Session,
    text: str,
    removal: Removal,
    held: Sequence[Chunk] = (),
    resting: tuple[tuple[Relation, ...], tuple[Relation, ...]] = ((), ()),
    reason: str = "",
) -> Proposal:
    """Return what takes a row out for good.

    Args:
        row: The row.
        text: What a person knows it by.
        removal: What goes with it.
        held: Chunks among that.
        resting: The relations that rest on those, before and after.
        reason: Why; because it was kept long enough where not given.
    """
    since = row.last_at if isinstance(row, Session) else row.times.retired_at
    return Proposal(
        project=row.project,
        phase="prune",
        action="remove",
        target=row.id,
        text=text,
        reason=reason or f"It has been out of use since {since:%Y-%m-%d}, longer than limits keeps it.",
        write=Write(changes=(), removed=removal, relations=resting[1]),
        expects=precondition_hash(row, *held, *resting[0]),
    )


_MOST_CHANGES = 20_000
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


def old_changes(ground: PhaseContext, counts: Counter[str]) -> list[Proposal]:
    """Return what takes out the changes that `limits` keeps no longer; nothing where it keeps all.

    Args:
        ground: What is looked at.
        counts: Gains how many there are.
    """
    before = cutoffs(ground.settings.limits, ground.now).changes
    if before is None:
        return []
    ended = ground.graph.ended_runs(ground.project, before, most=_MOST_CHANGES)
    undoing, going_on = _undoing(ground), _going_on(ground.graph)
    runs = [
        run for run in ended if run.id not in going_on and not _undoes_what_is_there(run, undoing, ground)
    ]
    counts["changes_too_old"] = sum(len(run.changes) for run in runs)
    remembered = _remembered(runs, undoing, ground) if runs else {}
    return [_proposal(part, remembered, ground) for part in _parts(runs)]


def _undoing(ground: PhaseContext) -> _Undoing:
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


def _undoes_what_is_there(run: EndedRun, undoing: _Undoing, ground: PhaseContext) -> bool:
    """Say whether a run undid one that is still known, which would look as if it stood."""
    undone = undoing.of.get(run.id, frozenset())
    return any(ground.graph.changes(run=id) or ground.graph.changes(id=id) for id in sorted(undone))


def _remembered(
    runs: Sequence[EndedRun], undoing: _Undoing, ground: PhaseContext
) -> Mapping[str, frozenset[str]]:
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


def _proposal(part: _Part, remembered: Mapping[str, frozenset[str]], ground: PhaseContext) -> Proposal:
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
