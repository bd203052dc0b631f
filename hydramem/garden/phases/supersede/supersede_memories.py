"""Memories that newer ones replace: what consolidation finds when it looks again at the newest memories.

A memory that was stored without consolidation, imported, or written before its vector existed was not
compared with its neighbours; consolidation (`ingest.memories.consolidate`) does so now, and decides.
"""

from contextlib import nullcontext
from dataclasses import replace
from datetime import datetime
from itertools import islice

from hydramem.core.row_types import Chunk
from hydramem.garden.proposals.phase_context import PhaseContext, PhaseWork
from hydramem.garden.proposals.proposal import Proposal, precondition_hash, quoted
from hydramem.ingest.memories.apply_plan import link_weight
from hydramem.ingest.memories.consolidate.duplicate_or_update import Action, decide
from hydramem.ingest.memories.memory_input import STEADY
from hydramem.ingest.memories.memory_write import MemoryWrite
from hydramem.ingest.memories.neighbours import candidates, find_neighbours
from hydramem.ingest.write_target import Target
from hydramem.storage.chunk_filter import ChunkFilter, covers
from hydramem.storage.store import Listing
from hydramem.storage.vector_rows import Vector
from hydramem.storage.write import Write

_NEWEST = 500


def updates(work: PhaseWork) -> list[Proposal]:
    """Return what ends older memories that newer ones replace."""
    context = work.context
    where = ChunkFilter(projects=(context.project,), kinds=STEADY)
    page = context.graph.list_chunks(where, Listing(limit=_NEWEST))
    newest = [row for row in page if covers(None, row.expires_at, context.now)]
    ids = [row.id for row in newest]
    vectors = context.vectors.vectors(ids)
    linked = {frozenset((link.source, link.target)) for link in context.graph.links(ids)}
    proposals: list[Proposal] = []
    taken: set[str] = set()
    for (row,) in work.batches(newest, 1):
        work.counts["memories_looked_at"] += 1
        if row.id in vectors and row.id not in taken:
            ended = (
                (old, action, cosine)
                for old, action, cosine in _ended_by(row, vectors[row.id], context)
                if frozenset((row.id, old.id)) not in linked
                and old.id not in taken
                and old.id not in work.undone
                and _may_end(old, row)
            )
            # One at a time: the next run looks at what else it ends.
            for old, action, cosine in islice(ended, 1):
                proposals.append(_proposal(row, old, action, cosine, context))
                taken |= {row.id, old.id}
    if work.stopped:
        work.notes.append(f"Not every memory was looked at: {work.stopped}.")
    work.counts["memories_ended"] = len(proposals)
    return proposals


def _ended_by(row: Chunk, vector: Vector, context: PhaseContext) -> list[tuple[Chunk, Action, float | None]]:
    """Return the older memories that one replaces."""
    target, settings = _recording_target(context, []), context.settings.memory
    neighbours = find_neighbours(
        vector, scope=row.scope, target=target, vectors=context.vectors, read_rows=False, stored=row
    )
    near = candidates(
        row, neighbours, target=target, vectors=context.vectors, settings=settings, at=context.now, stored=row
    )
    found = {one.chunk.id: one for one in near}
    ended = [each for each in decide(row, near).actions if each.action == "update"]
    return [(found[each.id].chunk, each, found[each.id].cosine) for each in ended]


def _may_end(old: Chunk, new: Chunk) -> bool:
    """Say whether a memory may end without a person: only a verified one ends a verified one."""
    later = old.times.valid_from is None or old.times.valid_from < _beginning(new)
    trusted = old.layer != "verified" or new.layer == "verified"
    return later and trusted


def _beginning(row: Chunk) -> datetime:
    return row.times.valid_from or row.happened_at or row.times.recorded_at


def _proposal(
    new: Chunk, old: Chunk, action: Action, cosine: float | None, context: PhaseContext
) -> Proposal:
    write = _write(new, old, action, cosine, context)
    subjects = sorted({row.subject for row in write.relations})
    stored = {row.id: row for row in context.graph.relations(subjects)} if subjects else {}
    known = [stored[row.id] for row in write.relations if row.id in stored]
    created = [
        *(row for row in write.chunks if row.id not in (new.id, old.id)),
        *(row for row in write.relations if row.id not in stored),
        *write.links,
    ]
    return Proposal(
        project=context.project,
        phase="supersede",
        action="change",
        target=old.id,
        text=f"{quoted(old.text)} gives way to {quoted(new.text)}",
        reason=action.reason,
        score=cosine,
        write=write,
        expects=precondition_hash(new, old, *known, absent=created),
    )


def _write(new: Chunk, old: Chunk, action: Action, cosine: float | None, context: PhaseContext) -> Write:
    """Return the rows that remembering the newer memory would have written."""
    written: list[Write] = []
    target = _recording_target(context, written)
    encoding = MemoryWrite(operation="garden", target=target, at=context.now, deferred=True)
    # The newer one gets a beginning: before it the older one was true.
    encoding.change(new, replace(new, times=replace(new.times, valid_from=_beginning(new))))
    encoding.supersede(old, until=_beginning(new), by=new.id, reason=action.reason, vector=None)
    encoding.link(new.id, old.id, "supersedes", weight=link_weight(cosine), reason=action.reason)
    encoding.commit()
    (made,) = written
    chunks = tuple(row for row in made.chunks if row != new)
    # Applying the proposal counts mentions; they are no part of it.
    return Write(changes=(), chunks=chunks, relations=made.relations, links=made.links)


def _recording_target(context: PhaseContext, written: list[Write]) -> Target:
    """Return a target that only records the writes to it."""
    return Target(
        project=context.project,
        graph=context.graph,
        commit=lambda write, vectors: written.append(write),
        one_writer=nullcontext(),
        embed=context.embed,
        known=context.snapshot.names.lookup,
    )
