"""Removal of what `limits` keeps no longer: archived rows, empty sessions, and old changes of the history.

This is the only part of a run that destroys data, and without limits it removes nothing. Undo brings removed
rows back, as long as their changes are kept.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TypeVar

from hydramem.core.row_types import Chunk, Document, Relation, Session
from hydramem.garden.proposals.phase_context import PhaseContext, PhaseWork
from hydramem.garden.proposals.proposal import Proposal, precondition_hash
from hydramem.ingest.knowledge.support import document_chunks
from hydramem.storage.changes import PURGED, Purged, purges
from hydramem.storage.chunk_filter import ChunkFilter
from hydramem.storage.jobs import job_payload
from hydramem.storage.quotas import cutoffs
from hydramem.storage.store import EndedRun, GraphStore, Listing
from hydramem.storage.write import Removal, Write
from hydramem.storage.write_validation import batches
from hydramem.text.shown_text import amount

_PAGE = 1000
_MOST_ROWS = 5000
"""Rows of a kind that are looked at in a run."""

_MOST_CHANGES = 20_000
"""Changes that are removed in a run."""

_CHANGES_EACH = 200
"""Changes of a proposal: several such go in one write, in hundredths of a second on either engine."""

_MOST_JOBS = 10_000
_TEXT_SHOWN = 80
_Row = TypeVar("_Row", Chunk, Document, Relation, Session)
EvidenceLoss = tuple[tuple[Relation, ...], tuple[Relation, ...]]
"""Relations before and after they lose some of their evidence."""


def past_retention(work: PhaseWork) -> list[Proposal]:
    """Return what removes rows archived for too long, and sessions that hold nothing."""
    context = work.context
    until = cutoffs(context.settings.limits, context.clock)
    proposals: list[Proposal] = []
    if until.archived is not None:
        proposals += _relations(context, until.archived)
        proposals += _documents(context, until.archived)
        proposals += _memories(context, until.archived)
    if until.sessions is not None:
        proposals += _sessions(context, until.sessions)
    kept = [each for each in proposals if each.target not in work.undone]
    work.counts["rows_kept_long_enough"] = len(kept)
    return kept


def _relations(context: PhaseContext, until: datetime) -> Iterator[Proposal]:
    rows = _pages(lambda page: context.graph.list_relations(context.project, page, states=("archived",)))
    for row in rows:
        if _is_past(row, until):
            names = {each.id: each.name for each in context.graph.entities((row.subject, row.object))}
            text = f"{names.get(row.subject, row.subject)} {row.type} {names.get(row.object, row.object)}"
            yield removal_of(row, text, Removal(relations=((row.subject, row.object, row.id),)))


def _documents(context: PhaseContext, until: datetime) -> Iterator[Proposal]:
    """Yield what removes a document with its chunks, where all of them are past retention."""
    rows = _pages(lambda page: context.graph.list_documents(context.project, page, states=("archived",)))
    for row in rows:
        chunks = document_chunks(row.id, context.graph) if _is_past(row, until) else ()
        if _is_past(row, until) and all(_is_past(chunk, until) for chunk in chunks):
            gone = Removal(documents=(row.id,), chunks=tuple(chunk.id for chunk in chunks))
            yield removal_of(row, row.title or row.source, gone, chunks, without_evidence(chunks, context))


def _memories(context: PhaseContext, until: datetime) -> Iterator[Proposal]:
    where = ChunkFilter(projects=(context.project,), states=("archived",))
    for row in _pages(lambda page: context.graph.list_chunks(where, page)):
        if row.document is None and _is_past(row, until):
            flat = " ".join(row.text.split())[:_TEXT_SHOWN]
            yield removal_of(row, flat, Removal(chunks=(row.id,)), (), without_evidence((row,), context))


def _sessions(context: PhaseContext, until: datetime) -> Iterator[Proposal]:
    for row in _pages(lambda page: context.graph.list_sessions(context.project, page)):
        where = ChunkFilter(sessions=(row.id,), states=())
        if row.last_at < until and not context.graph.list_chunks(where, Listing(limit=1)):
            yield removal_of(row, row.name, Removal(sessions=(row.id,)))


def _pages(read: Callable[[Listing], Sequence[_Row]]) -> Iterator[_Row]:
    for offset in range(0, _MOST_ROWS, _PAGE):
        page = read(Listing(limit=_PAGE, offset=offset))
        yield from page
        if len(page) < _PAGE:
            return


def _is_past(row: Chunk | Document | Relation, until: datetime) -> bool:
    retired = row.times.retired_at
    return row.state == "archived" and retired is not None and retired < until


def without_evidence(chunks: Sequence[Chunk], context: PhaseContext) -> EvidenceLoss:
    """Return the relations that depend on chunks, as they are and without these chunks as evidence."""
    gone = {chunk.id for chunk in chunks}
    named = sorted({mention.entity for mention in context.graph.mentions(sorted(gone))})
    before = [row for row in (context.graph.relations(named) if named else ()) if gone & set(row.evidence)]
    after = [replace(row, evidence=tuple(id for id in row.evidence if id not in gone)) for row in before]
    return tuple(before), tuple(after)


def removal_of(
    row: Chunk | Document | Relation | Session,
    text: str,
    removal: Removal,
    chunks: Sequence[Chunk] = (),
    relations: EvidenceLoss = ((), ()),
    reason: str = "",
) -> Proposal:
    """Return the proposal that removes a row from the store.

    Args:
        row: The row.
        text: What a person knows it by.
        removal: Everything that is removed.
        chunks: Those among it.
        relations: Relations that depend on these chunks.
        reason: Why; by default, that it was kept long enough.
    """
    since = row.last_at if isinstance(row, Session) else row.times.retired_at
    return Proposal(
        project=row.project,
        phase="prune",
        action="remove",
        target=row.id,
        text=text,
        reason=reason or f"It has been out of use since {since:%Y-%m-%d}, longer than limits keeps it.",
        write=Write(changes=(), removed=removal, relations=relations[1]),
        expects=precondition_hash(row, *chunks, *relations[0]),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _UndoHistory:
    """What was undone in a project.

    Attributes:
        of: The ids of the runs and changes that an undo run undid, by the id of the undo run.
        targets: Ids of all rows that were put back.
    """

    of: Mapping[str, frozenset[str]]
    targets: frozenset[str]


def old_changes(work: PhaseWork) -> list[Proposal]:
    """Return what removes changes that are older than `limits` keeps them, whole runs at a time.

    A run stays while a job still writes in it, and an undo while what it undid is known.
    """
    context = work.context
    before = cutoffs(context.settings.limits, context.clock).changes
    if before is None:
        return []
    ended = context.graph.ended_runs(context.project, before, most=_MOST_CHANGES)
    history, unfinished = _undo_history(context), _unfinished_runs(context.graph)
    runs = [run for run in ended if run.id not in unfinished and not _undoes_known(run, history, context)]
    work.counts["changes_too_old"] = sum(len(run.changes) for run in runs)
    taken_back = _taken_back(runs, history, context) if runs else {}
    return [_removed_changes(part, taken_back, context) for part in _parts(runs)]


def _undo_history(context: PhaseContext) -> _UndoHistory:
    of: dict[str, set[str]] = defaultdict(set)
    changes = context.graph.changes(project=context.project, operation="undo")
    for change in changes:
        # The first change of an undo names the run or change that it undid; the others name rows.
        if change.run is not None and change.target.startswith(("w_", "x_")):
            of[change.run].add(change.target)
    return _UndoHistory(
        of={run: frozenset(undone) for run, undone in of.items()},
        targets=frozenset(change.target for change in changes),
    )


def _unfinished_runs(graph: GraphStore) -> frozenset[str]:
    """Return the runs in which a job still has to write."""
    jobs = graph.jobs(Listing(limit=_MOST_JOBS), states=("waiting", "running", "failed"))
    return frozenset(str(job_payload(job)["run"]) for job in jobs)


def _undoes_known(run: EndedRun, history: _UndoHistory, context: PhaseContext) -> bool:
    """Say whether a run undid one whose changes are kept; without the undo that one would seem to hold."""
    undone = history.of.get(run.id, frozenset())
    return any(context.graph.changes(run=id) or context.graph.changes(id=id) for id in sorted(undone))


def _taken_back(
    runs: Sequence[EndedRun], history: _UndoHistory, context: PhaseContext
) -> Mapping[str, frozenset[str]]:
    """Return, by change, the ids of rows of which only this change shows that a person undid something."""
    going = {run.id for run in runs}
    found: dict[str, frozenset[str]] = {}
    for id in sorted(going.intersection(frozenset[str]().union(*history.of.values()))):
        for change in context.graph.changes(run=id):
            if change.operation == "garden" and change.target in history.targets:
                found[change.id] = frozenset([change.target])
    for change in context.graph.changes(project=context.project, operation="split"):
        if change.run in going:
            found[change.id] = frozenset([change.target])
    for change, purged in purges(context.graph):
        if change.run in going and change.project == context.project:
            found[change.id] = frozenset(purged.taken_back)
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class _Part:
    """Changes that are removed together: of whole runs, or a part of one that is too large."""

    runs: Sequence[EndedRun]
    changes: Sequence[str]
    whole: bool = True


def _parts(runs: Sequence[EndedRun]) -> Iterator[_Part]:
    together: list[EndedRun] = []
    count = 0
    for run in runs:
        if len(run.changes) > _CHANGES_EACH:
            continue
        if count + len(run.changes) > _CHANGES_EACH:
            yield _whole_runs(together)
            together, count = [], 0
        together.append(run)
        count += len(run.changes)
    if together:
        yield _whole_runs(together)
    for run in runs:
        if len(run.changes) > _CHANGES_EACH:
            for ids in batches(run.changes, _CHANGES_EACH):
                yield _Part(runs=[run], changes=ids, whole=False)


def _whole_runs(runs: Sequence[EndedRun]) -> _Part:
    return _Part(runs=runs, changes=[id for run in runs for id in run.changes])


def _removed_changes(
    part: _Part, taken_back: Mapping[str, frozenset[str]], context: PhaseContext
) -> Proposal:
    gone = Purged(
        changes=len(part.changes),
        runs=len(part.runs) if part.whole else 0,
        until=max(run.ended_at for run in part.runs),
        part_of=None if part.whole else part.runs[0].id,
        taken_back=tuple(sorted({id for each in part.changes for id in taken_back.get(each, ())})),
    )
    which = amount(len(part.runs), "run") if part.whole else f"run {part.runs[0].id}"
    return Proposal(
        project=context.project,
        phase="prune",
        action="remove",
        target=PURGED,
        text=f"{amount(gone.changes, 'change')} of {which}, the last of {gone.until:%Y-%m-%d}",
        reason=f"Changes are kept for {amount(context.settings.limits.change_days, 'day')}.",
        write=Write(changes=(), removed=Removal(changes=tuple(part.changes))),
        told=gone.as_json,
    )
