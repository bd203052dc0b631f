"""What has been in the archive longer than `limits` keeps it is taken out; undo can still bring it back.

The one part of a night that destroys, and only what was configured to go: without limits, nothing does.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from typing import TypeVar

from hydramem.core.row_types import Chunk, Document, Relation, Session
from hydramem.garden.expect import expected
from hydramem.garden.ground import Ground
from hydramem.garden.proposal import Proposal
from hydramem.garden.undone import Undone
from hydramem.ingest.knowledge.support import document_chunks
from hydramem.storage.chunk_filter import ChunkFilter
from hydramem.storage.quotas import cutoffs
from hydramem.storage.store import Listing
from hydramem.storage.write import Removal, Write

_PAGE = 1000

_MOST = 5000
"""Rows of a kind that go in a night."""

_SHOWN = 80

_Row = TypeVar("_Row", Chunk, Document, Relation, Session)


def purged(ground: Ground, undone: Undone, counts: Counter[str]) -> list[Proposal]:
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


def _relations(ground: Ground, until: datetime) -> Iterator[Proposal]:
    rows = _pages(lambda page: ground.graph.list_relations(ground.project, page, states=("archived",)))
    for row in rows:
        if _is_past(row, until):
            names = {each.id: each.name for each in ground.graph.entities((row.subject, row.object))}
            text = f"{names.get(row.subject, row.subject)} {row.type} {names.get(row.object, row.object)}"
            yield taken_out(row, text, Removal(relations=((row.subject, row.object, row.id),)))


def _documents(ground: Ground, until: datetime) -> Iterator[Proposal]:
    """Yield a document with its chunks, where every one of them is past its time too."""
    rows = _pages(lambda page: ground.graph.list_documents(ground.project, page, states=("archived",)))
    for row in rows:
        chunks = document_chunks(row.id, ground.graph) if _is_past(row, until) else ()
        if _is_past(row, until) and all(_is_past(chunk, until) for chunk in chunks):
            gone = Removal(documents=(row.id,), chunks=tuple(chunk.id for chunk in chunks))
            yield taken_out(row, row.title or row.source, gone, chunks, without(chunks, ground))


def _memories(ground: Ground, until: datetime) -> Iterator[Proposal]:
    where = ChunkFilter(projects=(ground.project,), states=("archived",))
    for row in _pages(lambda page: ground.graph.list_chunks(where, page)):
        if row.document is None and _is_past(row, until):
            flat = " ".join(row.text.split())[:_SHOWN]
            yield taken_out(row, flat, Removal(chunks=(row.id,)), (), without((row,), ground))


def _sessions(ground: Ground, until: datetime) -> Iterator[Proposal]:
    for row in _pages(lambda page: ground.graph.list_sessions(ground.project, page)):
        where = ChunkFilter(sessions=(row.id,), states=())
        if row.last_at < until and not ground.graph.list_chunks(where, Listing(limit=1)):
            yield taken_out(row, row.name, Removal(sessions=(row.id,)))


def _pages(read: Callable[[Listing], Sequence[_Row]]) -> Iterator[_Row]:
    for offset in range(0, _MOST, _PAGE):
        page = read(Listing(limit=_PAGE, offset=offset))
        yield from page
        if len(page) < _PAGE:
            return


def _is_past(row: Chunk | Document | Relation, until: datetime) -> bool:
    retired = row.times.retired_at
    return row.state == "archived" and retired is not None and retired < until


def without(chunks: Sequence[Chunk], ground: Ground) -> tuple[tuple[Relation, ...], tuple[Relation, ...]]:
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


def taken_out(
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
        expects=expected(row, *held, *resting[0]),
    )
