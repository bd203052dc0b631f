"""Counts over rows in memory: by scope, and of what is past its time."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from hydramem.core.results.knowledge_results import ScopeCount
from hydramem.core.row_types import Change, Chunk, Document, Relation, Session
from hydramem.storage.chunk_filter import within_scope
from hydramem.storage.store import EndedRun, RunFilter, RunRow


def scopes(chunks: Iterable[Chunk], prefix: str) -> tuple[ScopeCount, ...]:
    """Count active memories at or under a scope, by scope and categories, in that order."""
    groups: dict[tuple[str, tuple[str, ...]], list[datetime]] = {}
    for row in chunks:
        if row.state == "active" and row.kind != "passage" and within_scope(row.scope, prefix):
            groups.setdefault((row.scope, row.categories), []).append(row.times.recorded_at)
    return tuple(
        ScopeCount(
            scope=scope,
            categories=categories,
            memories=len(moments),
            oldest=min(moments),
            newest=max(moments),
        )
        for (scope, categories), moments in sorted(groups.items())
    )


def document_bytes(chunks: Iterable[Chunk]) -> Mapping[str, int]:
    """Return the bytes of the text of documents by project, of every state."""
    sums: dict[str, int] = {}
    for row in chunks:
        if row.kind == "passage":
            sums[row.project] = sums.get(row.project, 0) + len(row.text.encode())
    return sums


def expired(chunks: Iterable[Chunk], at: datetime) -> int:
    """Count active memories that have expired."""
    ends = (row.expires_at for row in chunks if row.state == "active")
    return sum(end is not None and end <= at for end in ends)


def retired(rows: Iterable[Document | Chunk | Relation], before: datetime | None) -> int:
    """Count rows that went to the archive before a moment."""
    gone = (row.times.retired_at for row in rows if row.state == "archived")
    return sum(before is not None and at is not None and at < before for at in gone)


def made(changes: Iterable[Change], before: datetime | None) -> int:
    """Count changes of runs that ended before a moment."""
    return 0 if before is None else sum(len(run.changes) for run in _ended(changes, before))


def ended_runs(
    changes: Iterable[Change], project: str, before: datetime, *, most: int
) -> tuple[EndedRun, ...]:
    """Return runs that wrote to a project and ended before a moment, each whole, the oldest first."""
    rows = tuple(changes)
    own = {row.run or row.id for row in rows if row.project == project}
    chosen: list[EndedRun] = []
    number = 0
    for run in _ended(rows, before):
        if run.id in own:
            number += len(run.changes)
            if chosen and number > most:
                break
            chosen.append(run)
    return tuple(chosen)


def runs(changes: Iterable[Change], where: RunFilter) -> list[RunRow]:
    """Return the runs that a filter admits, the last one first."""
    admitted = [_run_row(id, rows) for id, rows in _by_run(changes).items() if _admits(where, id, rows)]
    return sorted(admitted, key=lambda run: (run.ended_at, run.id), reverse=True)


def _admits(where: RunFilter, id: str, rows: Sequence[Change]) -> bool:
    ended = rows[-1].at
    return (
        where.run in (None, id)
        and (where.since is None or ended >= where.since)
        and (where.until is None or ended < where.until)
        and any(
            where.project in (None, row.project)
            and where.actor in (None, row.actor)
            and where.operation in (None, row.operation)
            and where.request in (None, row.request)
            for row in rows
        )
    )


def _run_row(id: str, rows: Sequence[Change]) -> RunRow:
    return RunRow(
        id=id,
        began_at=rows[0].at,
        ended_at=rows[-1].at,
        changes=len(rows),
        actors=tuple(sorted({row.actor for row in rows})),
        operations=tuple(sorted({row.operation for row in rows})),
        projects=tuple(sorted({row.project for row in rows})),
        first=replace(rows[0], image=None),
    )


def _by_run(changes: Iterable[Change]) -> Mapping[str, list[Change]]:
    """Return the changes of each run, oldest first; one without a run is a run of its own."""
    runs: dict[str, list[Change]] = {}
    for row in sorted(changes, key=lambda row: (row.at, row.id)):
        runs.setdefault(row.run or row.id, []).append(row)
    return runs


def _ended(changes: Iterable[Change], before: datetime) -> list[EndedRun]:
    found = [
        EndedRun(id=id, ended_at=held[-1].at, changes=tuple(row.id for row in held))
        for id, held in _by_run(changes).items()
        if held[-1].at < before
    ]
    return sorted(found, key=lambda run: (run.ended_at, run.id))


def idle(sessions: Iterable[Session], chunks: Iterable[Chunk], before: datetime | None) -> int:
    """Count sessions that hold nothing and were last active before a moment."""
    held = {row.session for row in chunks}
    return sum(before is not None and row.last_at < before and row.id not in held for row in sessions)
