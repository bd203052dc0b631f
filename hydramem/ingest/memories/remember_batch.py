"""What becomes of one memory after the other, compared with those near it, while the writer lock is held."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from hydramem.core.config import MemoryConfig
from hydramem.core.results.write_results import Remembered
from hydramem.core.row_types import Chunk, Job
from hydramem.ingest.memories.apply_plan import AppliedPlan, PlanContext, ending, merge_known, unchanged
from hydramem.ingest.memories.ask_models import ModelSuggestions, classify_by_rules, same_text
from hydramem.ingest.memories.classify.classify import Classified
from hydramem.ingest.memories.consolidate.duplicate_or_update import ConsolidationPlan, compare, decide
from hydramem.ingest.memories.memory_input import ValidatedMemory
from hydramem.ingest.memories.memory_write import (
    MemoryIdentity,
    MemoryWrite,
    memory_identity,
    remembered,
    session_row,
)
from hydramem.ingest.memories.neighbours import NO_NEIGHBOURS, Neighbours, candidates, find_neighbours
from hydramem.ingest.memories.similarity import NearbyChunk
from hydramem.ingest.pending_jobs import ENCODE, LINK, embed_jobs
from hydramem.storage.jobs import job
from hydramem.storage.vector_rows import Vector, VectorStore

_BATCH_CANDIDATES = 10
_STEPS_LATER = ("embed", "consolidate", "link")
_ID_MAY_CHANGE = "encoded later: another memory may come to stand for this id, or this one for others"


class RememberBatch:
    """Adds memories to one write, each compared with those before it too; the writer lock is held.

    Args:
        write: The write; where it is deferred, memories are stored without vectors and compared later.
        vectors: The project's vectors; None where they cannot be read.
        settings: How memories are encoded.
    """

    def __init__(self, write: MemoryWrite, vectors: VectorStore | None, settings: MemoryConfig) -> None:
        self._write = write
        self._target = write.target
        self._vectors = vectors
        self._settings = settings
        self._added: dict[str, Vector] = {}

    def add(
        self, memory: ValidatedMemory, vector: Vector | None, suggestions: ModelSuggestions
    ) -> Remembered:
        """Add the rows of one memory; what is known only after the commit is left out of the result."""
        encoded = memory.is_encoded(self._settings)
        neighbours = self._neighbours(memory, vector, suggestions) if encoded else NO_NEIGHBOURS
        memory = _with_known_scope(memory, neighbours)
        classified = suggestions.classified
        if classified is None and encoded:
            classified = classify_by_rules(memory, neighbours.nearest, self._target)
        if classified is not None:
            memory = replace(memory, row=classified.file(memory.row))
        identity = memory_identity(memory.row, memory.given.session, self._write)
        compared = False
        if identity.known is not None:
            applied = merge_known(identity.known, memory, self._write, self._settings)
        else:
            row = self._new_row(memory, identity)
            if encoded and memory.is_steady and vector is not None:
                applied, compared = self._consolidate(memory, row, vector, neighbours, suggestions)
            else:
                self._write.insert(row, memory.found, vector)
                applied = AppliedPlan(row=row, created=True, action="stored")
        if vector is not None and applied.created and applied.row.id in self._write.rows:
            self._added[applied.row.id] = vector
        notes = (*(classified.notes if classified else ()), *suggestions.notes, *applied.notes)
        pending = self._pending(applied.row, memory) if applied.created else ()
        deferred = self._write.deferred
        return replace(
            remembered(applied.row, created=applied.created, action=applied.action),
            superseded=applied.superseded,
            steps=self._steps(memory, applied, classified, compared=compared),
            pending=pending,
            notes=(*notes, _ID_MAY_CHANGE) if deferred and len(pending) > 1 else notes,
            usage=suggestions.usage,
            reasons=memory.screened.reasons,
            masked=memory.screened.masked,
        )

    def encode_stored(
        self, memory: ValidatedMemory, row: Chunk, vector: Vector, suggestions: ModelSuggestions
    ) -> None:
        """Add what becomes of a memory that is stored and was not encoded yet.

        Args:
            memory: The memory; its `stored` is the row as it was when models were asked.
            row: Its row as it is now.
            vector: Its vector.
            suggestions: What models suggest for it.
        """
        memory = replace(memory, stored=row)
        neighbours = self._neighbours(memory, vector, suggestions)
        memory = _with_known_scope(memory, neighbours)
        found = suggestions.classified or classify_by_rules(memory, neighbours.nearest, self._target)
        memory = replace(memory, row=found.file(memory.row))
        if suggestions.classified is not None:
            row = found.file(row)
        else:  # the other fields were found by rules when it was stored
            row = replace(row, scope=found.scope, categories=found.categories)
        row = replace(row, vector_state="ready")
        if memory.is_steady:
            self._consolidate(memory, row, vector, neighbours, suggestions)
        else:
            self._write.refile(memory.stored, row, vector, reason="")

    def _neighbours(
        self, memory: ValidatedMemory, vector: Vector | None, suggestions: ModelSuggestions
    ) -> Neighbours:
        read_rows = bool(memory.open) and suggestions.classified is None
        if vector is None or not (read_rows or memory.is_steady):
            return NO_NEIGHBOURS
        return find_neighbours(
            vector,
            scope=memory.search_scope,
            target=self._target,
            vectors=self._vectors,
            read_rows=read_rows,
            stored=memory.stored,
        )

    def _new_row(self, memory: ValidatedMemory, identity: MemoryIdentity) -> Chunk:
        write, project, session = self._write, self._target.project, memory.given.session
        if session is not None:
            write.add_session(session_row(session, project, write.at, self._target.graph))
        return memory.placed(
            identity.id, project=project, at=write.at, position=identity.position, embedded=not write.deferred
        )

    def _steps(
        self, memory: ValidatedMemory, applied: AppliedPlan, classified: Classified | None, *, compared: bool
    ) -> tuple[str, ...]:
        later, new = self._write.deferred, memory.active and applied.created
        steps = (
            ("screen", True),
            ("classify", not later and classified is not None and bool(classified.steps)),
            ("consolidate", compared),
            ("extract", new),
            ("embed", not later),
            ("verify", new and self._target.accept is not None),
            ("store", applied.created),
        )
        return tuple(step for step, ran in steps if ran)

    def _pending(self, row: Chunk, memory: ValidatedMemory) -> tuple[str, ...]:
        """Add the jobs that follow from a new memory; return their steps."""
        encoded, project = memory.is_encoded(self._settings), self._target.project
        if self._write.deferred:
            jobs = (_encode_job(row, memory),) if encoded else embed_jobs([row], project=project)
            for each in jobs:
                self._write.add_job(each)
            return _STEPS_LATER if encoded else _STEPS_LATER[:1]
        if not encoded or self._settings.link_neighbors <= 0:
            return ()
        self._write.add_job(job(LINK, project=project, chunk=row.id))
        return (LINK,)

    def _consolidate(
        self,
        memory: ValidatedMemory,
        row: Chunk,
        vector: Vector,
        neighbours: Neighbours,
        suggestions: ModelSuggestions,
    ) -> tuple[AppliedPlan, bool]:
        """Return what becomes of a memory, and whether it was compared with others."""
        found = candidates(
            row,
            neighbours,
            target=self._target,
            vectors=self._vectors,
            settings=self._settings,
            at=self._write.at,
            stored=memory.stored,
        )
        # A candidate that this write changes is compared as it becomes.
        current = (replace(one, chunk=self._write.rows.get(one.chunk.id, one.chunk)) for one in found)
        found = (*(one for one in current if one.chunk.state == "active"), *self._of_this_write(row, vector))
        plan, notes = _plan(row, found, suggestions)
        context = PlanContext(
            plan=plan,
            memory=memory,
            row=row,
            vector=vector,
            candidates={one.chunk.id: one for one in found},
            vectors=self._vectors_of(ending(plan)),
            write=self._write,
            settings=self._settings,
        )
        applied = context.apply()
        return replace(applied, notes=(*notes, *applied.notes)), bool(found)

    def _of_this_write(self, new: Chunk, vector: Vector) -> list[NearbyChunk]:
        """Return the memories of this write that one may change; only equal ones are its duplicates."""
        rows = (self._write.rows[id] for id in self._added)
        near = [
            (float(np.dot(self._added[row.id], vector)), row)
            for row in rows
            if row.state == "active" and row.scope == new.scope
        ]
        near.sort(key=lambda each: -each[0])
        return [
            NearbyChunk(chunk=row, cosine=cosine)
            for cosine, row in near[:_BATCH_CANDIDATES]
            if cosine >= self._settings.batch_threshold or compare(new, row).action != "duplicate"
        ]

    def _vectors_of(self, ids: Sequence[str]) -> Mapping[str, Vector]:
        stored = [id for id in ids if id not in self._added]
        read = self._vectors.vectors(stored) if stored and self._vectors is not None else {}
        return {**read, **{id: self._added[id] for id in ids if id in self._added}}


def _encode_job(row: Chunk, memory: ValidatedMemory) -> Job:
    given = memory.given
    return job(
        ENCODE,
        project=row.project,
        chunk=row.id,
        open=list(memory.open),
        source=given.source,
        session=given.session,
        within=given.within,
    )


def _with_known_scope(memory: ValidatedMemory, neighbours: Neighbours) -> ValidatedMemory:
    """Give a memory without a scope that of an equal one: a new scope would make it another memory."""
    known = same_text(memory, neighbours) if "scope" in memory.open else None
    if known is None:
        return memory
    open = tuple(name for name in memory.open if name != "scope")
    return replace(memory, row=replace(memory.row, scope=known.scope), open=open)


def _plan(
    new: Chunk, found: Sequence[NearbyChunk], suggestions: ModelSuggestions
) -> tuple[ConsolidationPlan, tuple[str, ...]]:
    """Return the model's plan where its memories are as they were, else one by rules."""
    if suggestions.plan is None:
        return decide(new, found), ()
    rows = {one.chunk.id: one.chunk for one in found}
    ids = [each.id for each in suggestions.plan.actions]
    changed = [id for id in ids if id not in rows or not unchanged(rows[id], suggestions.seen[id])]
    if changed:
        note = f"consolidate: {', '.join(changed)} changed meanwhile, so rules decide instead of the model"
        return decide(new, found), (note,)
    unseen = [one for one in found if one.chunk.id not in suggestions.seen]
    by_rules = decide(new, unseen)
    return (suggestions.plan if by_rules.insert else by_rules), ()
