"""Memories whose place a newer one takes: what consolidation finds when it looks again among the newest.

A memory that was stored as given, that came from elsewhere, or that was told before its vector was there
was not set against its neighbours; consolidation (`ingest.consolidate`) does so now, and its word is taken.
"""

from collections import Counter
from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import replace
from itertools import islice

from hydramem.core.row_types import Chunk
from hydramem.garden.proposals.exclusions import UndoneRows
from hydramem.garden.proposals.phase_context import PhaseContext
from hydramem.garden.proposals.proposal import Proposal, precondition_hash
from hydramem.ingest.memories.consolidate.consolidate import Action, decide
from hydramem.ingest.memories.memory_input import STEADY
from hydramem.ingest.memories.memory_write import MemoryWrite
from hydramem.ingest.memories.neighbours import candidates, find_neighbours
from hydramem.ingest.write_target import Target
from hydramem.storage.chunk_filter import ChunkFilter, covers
from hydramem.storage.schema import CHUNK, LINKS, RELATES, EdgeTable, NodeTable
from hydramem.storage.store import Listing
from hydramem.storage.vector_rows import Vector
from hydramem.storage.write import Write
from hydramem.text.shown_text import one_line

_NEWEST = 500

_TEXT_SHOWN = 80

_UNKNOWN_LIKENESS = 0.5


def updates(
    ground: PhaseContext, undone: UndoneRows, counts: Counter[str]
) -> tuple[list[Proposal], tuple[str, ...]]:
    """Return what would end older memories whose place newer ones take, and what a person should know.

    Args:
        ground: What is looked at.
        undone: What a person took back.
        counts: Gains what was looked at and found.
    """
    where = ChunkFilter(projects=(ground.project,), kinds=STEADY)
    page = ground.graph.list_chunks(where, Listing(limit=_NEWEST))
    newest = [row for row in page if covers(None, row.expires_at, ground.now)]
    vectors = ground.vectors.vectors([row.id for row in newest])
    linked = {
        frozenset((link.source, link.target)) for link in ground.graph.links([row.id for row in newest])
    }
    proposals: list[Proposal] = []
    taken: set[str] = set()
    looked_at = 0
    for row in newest:
        if ground.budget.over:
            return proposals, (f"Not every memory was looked at: {ground.budget.over}.",)
        looked_at += 1
        if row.id in vectors and row.id not in taken:
            ended = (
                (old, action, cosine)
                for old, action, cosine in _ended_by(row, vectors[row.id], ground)
                if frozenset((row.id, old.id)) not in linked
                and old.id not in taken
                and old.id not in undone
                and _may_end(old, row)
            )
            # One at a time: the next night looks at what else it ends.
            for old, action, cosine in islice(ended, 1):
                proposals.append(_proposal(row, old, action, cosine, ground))
                taken |= {row.id, old.id}
        ground.progress(looked_at, len(newest))
    counts["memories_looked_at"] = looked_at
    counts["memories_ended"] = len(proposals)
    return proposals, ()


def _ended_by(row: Chunk, vector: Vector, ground: PhaseContext) -> list[tuple[Chunk, Action, float | None]]:
    """Return the older memories that one takes the place of."""
    target, settings = _target(ground, []), ground.settings.memory
    neighbours = find_neighbours(
        vector, scope=row.scope, target=target, vectors=ground.vectors, read_rows=False, stored=row
    )
    near = candidates(
        row,
        neighbours,
        target=target,
        vectors=ground.vectors,
        settings=settings,
        at=ground.now,
        stored=row,
    )
    found = {one.chunk.id: one for one in near}
    ended = [each for each in decide(row, near).actions if each.action == "update"]
    return [(found[each.id].chunk, each, found[each.id].cosine) for each in ended]


def _may_end(old: Chunk, new: Chunk) -> bool:
    """Say whether a memory may end without a person: verified ones end by verified ones alone."""
    begins = new.times.valid_from or new.happened_at or new.times.recorded_at
    later = old.times.valid_from is None or old.times.valid_from < begins
    trusted = old.layer != "verified" or new.layer == "verified"
    return later and trusted


def _proposal(new: Chunk, old: Chunk, action: Action, cosine: float | None, ground: PhaseContext) -> Proposal:
    write = _write(new, old, action, cosine, ground)
    subjects = sorted({row.subject for row in write.relations})
    stored = {row.id: row for row in ground.graph.relations(subjects)} if subjects else {}
    rested = [stored[row.id] for row in write.relations if row.id in stored]
    made: list[tuple[NodeTable | EdgeTable, object]] = [
        *((CHUNK, row) for row in write.chunks if row.id not in (new.id, old.id)),
        *((RELATES, row) for row in write.relations if row.id not in stored),
        *((LINKS, row) for row in write.links),
    ]
    return Proposal(
        project=ground.project,
        phase="supersede",
        action="change",
        target=old.id,
        text=f"{_shown(old)} gives way to {_shown(new)}",
        reason=action.reason,
        score=cosine,
        write=write,
        expects=precondition_hash(new, old, *rested, absent=made),
    )


def _write(new: Chunk, old: Chunk, action: Action, cosine: float | None, ground: PhaseContext) -> Write:
    """Return the rows that it takes, as remembering the newer one would have written them."""
    written: list[Write] = []
    begins = new.times.valid_from or new.happened_at or new.times.recorded_at
    encoding = MemoryWrite(operation="garden", target=_target(ground, written), at=ground.now, deferred=True)
    encoding.change(new, _begun(new))
    encoding.supersede(old, until=begins, by=new.id, reason=action.reason, vector=None)
    weight = _UNKNOWN_LIKENESS if cosine is None else min(1.0, max(0.0, cosine))
    encoding.link(new.id, old.id, "supersedes", weight=weight, reason=action.reason)
    encoding.commit()
    (made,) = written
    chunks = tuple(row for row in made.chunks if row != new)
    # How often a thing is mentioned is counted; it is no part of what is decided here.
    return Write(changes=(), chunks=chunks, relations=made.relations, links=made.links)


def _begun(new: Chunk) -> Chunk:
    """Return the newer memory with its beginning told: before that the older one was true."""
    if new.times.valid_from is not None:
        return new
    begins = new.happened_at or new.times.recorded_at
    return replace(new, times=replace(new.times, valid_from=begins))


def _target(ground: PhaseContext, written: list[Write]) -> Target:
    """Return the project as a place to write to, of which every write is only noted."""

    def note(write: Write, vectors: Mapping[str, Vector]) -> None:
        written.append(write)

    return Target(
        project=ground.project,
        graph=ground.graph,
        commit=note,
        one_writer=nullcontext(),
        embed=ground.embed,
        known=ground.snapshot.names.lookup,
    )


def _shown(row: Chunk) -> str:
    return f'"{one_line(row.text, _TEXT_SHOWN)}"'
