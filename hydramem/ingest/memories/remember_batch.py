"""Settle: what becomes of one memory after the other, beside what is around each; the writer lock is held."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from hydramem.core.config import MemoryConfig
from hydramem.core.row_types import Chunk, Usage
from hydramem.ingest.memories.apply_plan import (
    AppliedPlan,
    PlanContext,
    apply_plan,
    ending,
    merge_known,
    still,
)
from hydramem.ingest.memories.ask_models import ModelSuggestions, beside_its_like, given_fields, vocabulary
from hydramem.ingest.memories.classify.classify import Classified, classify
from hydramem.ingest.memories.consolidate.consolidate import (
    CandidateMemory,
    ConsolidationPlan,
    Telling,
    compare,
    decide,
    telling_of,
)
from hydramem.ingest.memories.memory_identity import memory_identity, session_row
from hydramem.ingest.memories.memory_write import MemoryWrite
from hydramem.ingest.memories.neighbours import Neighbours, candidates, find_neighbours
from hydramem.ingest.memories.validate import MemoryDraft, ValidatedMemory, chunk_of
from hydramem.ingest.pending_jobs import LINK
from hydramem.storage.jobs import job
from hydramem.storage.store import VectorStore
from hydramem.storage.vector_rows import Vector

_BATCH_CANDIDATES = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class AddedMemory:
    """What became of one memory, and how it came about."""

    taken: ValidatedMemory
    enacted: AppliedPlan
    steps: tuple[str, ...] = ()
    pending: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    usage: Usage = field(default_factory=Usage)


class RememberBatch:
    """Finds for one memory after the other what becomes of it; the writer lock is held."""

    def __init__(self, encoding: MemoryWrite, near: VectorStore | None, settings: MemoryConfig) -> None:
        self._encoding = encoding
        self._target = encoding.target
        self._near = near
        self._settings = settings
        self._vectors: dict[str, Vector] = {}

    def settle(self, taken: ValidatedMemory, vector: Vector, thought: ModelSuggestions) -> AddedMemory:
        """Add the rows of one memory to the write."""
        cognitive = self._settings.cognitive and taken.active and taken.draft.kind != "turn"
        around = self._around(taken, vector, thought) if cognitive else Neighbours(rows={})
        taken = beside_its_like(taken, around)
        found = thought.classified or (self._classify(taken, around) if cognitive else None)
        if found is not None:
            taken = replace(taken, draft=filed(taken.draft, found))
        steps = ("classify",) if found is not None and found.steps else ()
        enacted, consolidated = self._consolidate(taken, vector, around, thought, cognitive=cognitive)
        settled = AddedMemory(
            taken=taken,
            enacted=enacted,
            steps=(*steps, *(("consolidate",) if consolidated else ())),
            pending=self._later(enacted) if cognitive else (),
            notes=(*(found.notes if found else ()), *thought.notes, *enacted.notes),
            usage=thought.usage,
        )
        if enacted.row.id in self._encoding.rows and enacted.created:
            self._vectors[enacted.row.id] = vector
        return settled

    def settle_stored(
        self, taken: ValidatedMemory, row: Chunk, vector: Vector, thought: ModelSuggestions
    ) -> None:
        """Add to the write what becomes of a memory that is stored and was not encoded yet.

        Args:
            taken: The memory; its `stored` is the row as it was when it was thought about.
            row: Its row as it is now.
            vector: Its vector.
            thought: What models say of it.
        """
        taken = replace(taken, stored=row)
        around = self._around(taken, vector, thought)
        taken = beside_its_like(taken, around)
        found = thought.classified or self._classify(taken, around)
        taken = replace(taken, draft=filed(taken.draft, found))
        row = replace(row, scope=found.scope, categories=found.categories, vector_state="ready")
        if thought.classified is not None:
            # Rules have said all that its own words say when it was stored.
            row = replace(row, importance=found.importance, keywords=found.keywords, summary=found.summary)
        if taken.is_steady:
            self._set_against(taken, row, vector, around, thought)
        else:
            self._encoding.refile(taken.stored, row, vector, reason="")

    def _around(self, taken: ValidatedMemory, vector: Vector, thought: ModelSuggestions) -> Neighbours:
        told = given_fields(taken)
        filing = bool(told.open) and thought.classified is None
        if not filing and not taken.is_steady:
            return Neighbours(rows={})
        return find_neighbours(
            vector,
            scope=told.scope or told.root,
            target=self._target,
            vectors=self._near,
            neighbours=filing,
            stored=taken.stored,
        )

    def _classify(self, taken: ValidatedMemory, around: Neighbours) -> Classified:
        told = given_fields(taken)
        if not told.open:
            return classify(told)
        return classify(
            told, around.neighbours, vocabulary(told.names, target=self._target, offering=False), None
        )

    def _consolidate(
        self,
        taken: ValidatedMemory,
        vector: Vector,
        around: Neighbours,
        thought: ModelSuggestions,
        *,
        cognitive: bool,
    ) -> tuple[AppliedPlan, bool]:
        """Return what becomes of a memory, and whether it was set against others."""
        encoding, draft = self._encoding, taken.draft
        there = memory_identity(draft, self._target.project, self._target.graph, taken=encoding.rows)
        known = encoding.rows.get(there.id, there.known)
        if known is not None:
            return merge_known(known, draft, encoding, self._settings), False
        project, at = self._target.project, encoding.at
        row = chunk_of(taken, id=there.id, project=project, position=there.position, at=at)
        if draft.session is not None:
            encoding.said_in(
                session_row(draft.session, self._target.project, encoding.at, self._target.graph)
            )
        if not cognitive or not taken.is_steady:
            encoding.insert(row, taken.found, vector)
            return AppliedPlan(row=row, created=True, action="stored"), False
        return self._set_against(taken, row, vector, around, thought)

    def _set_against(
        self,
        taken: ValidatedMemory,
        row: Chunk,
        vector: Vector,
        around: Neighbours,
        thought: ModelSuggestions,
    ) -> tuple[AppliedPlan, bool]:
        new = telling_of(row)
        found, rows = candidates(
            new,
            around,
            target=self._target,
            vectors=self._near,
            settings=self._settings,
            at=self._encoding.at,
            stored=taken.stored,
        )
        # What this write has changed already is as it becomes.
        rows = {id: self._encoding.rows.get(id, old) for id, old in rows.items()}
        rows = {id: old for id, old in rows.items() if old.state == "active"}
        beside, with_rows = self._beside(new, vector)
        found = (*(each for each in found if each.id in rows), *beside)
        rows |= with_rows
        plan, notes = _plan(new, found, rows, thought, self._settings)
        touching = PlanContext(
            taken=taken,
            row=row,
            vector=vector,
            rows=rows,
            cosines={each.id: each.cosine for each in found if each.cosine is not None},
            vectors=self._vectors_of(ending(plan)),
        )
        enacted = apply_plan(plan, touching, self._encoding, self._settings)
        return replace(enacted, notes=(*notes, *enacted.notes)), bool(found)

    def _beside(self, new: Telling, vector: Vector) -> tuple[tuple[CandidateMemory, ...], dict[str, Chunk]]:
        """Return the memories of this write that one may touch; only equal ones are its duplicates."""
        rows = [
            row
            for id in self._vectors
            if (row := self._encoding.rows[id]).state == "active" and row.scope == new.scope
        ]
        cosines = {row.id: float(np.dot(self._vectors[row.id], vector)) for row in rows}
        nearest = sorted(rows, key=lambda row: -cosines[row.id])[:_BATCH_CANDIDATES]
        kept = {}
        for row in nearest:
            cosine = cosines[row.id]
            same = compare(new, telling_of(row), cosine).action == "duplicate"
            if not same or cosine >= self._settings.batch_threshold:
                kept[row.id] = row
        found = (
            CandidateMemory(id=id, telling=telling_of(row), cosine=cosines[id]) for id, row in kept.items()
        )
        return tuple(found), kept

    def _vectors_of(self, ids: Sequence[str]) -> Mapping[str, Vector]:
        stored = [id for id in ids if id not in self._vectors]
        held = self._near.vectors(stored) if stored and self._near is not None else {}
        return {**held, **{id: self._vectors[id] for id in ids if id in self._vectors}}

    def _later(self, enacted: AppliedPlan) -> tuple[str, ...]:
        """Leave to the queue what follows from a new memory."""
        if not enacted.created or self._settings.link_neighbors <= 0:
            return ()
        self._encoding.later(job(LINK, project=self._target.project, chunk=enacted.row.id))
        return (LINK,)


def filed(draft: MemoryDraft, found: Classified) -> MemoryDraft:
    """Return a memory with the fields that were found for it."""
    return replace(
        draft,
        scope=found.scope,
        categories=found.categories,
        importance=found.importance,
        keywords=found.keywords,
        summary=found.summary,
    )


def _plan(
    new: Telling,
    found: Sequence[CandidateMemory],
    rows: Mapping[str, Chunk],
    thought: ModelSuggestions,
    settings: MemoryConfig,
) -> tuple[ConsolidationPlan, tuple[str, ...]]:
    """Return a model's plan where what it was made for still stands, else one by rules."""
    if thought.plan is None:
        return decide(new, found, settings), ()
    names = [each.id for each in thought.plan.actions]
    moved = [id for id in names if id not in rows or not still(rows[id], thought.seen[id])]
    if moved:
        note = f"consolidate: {', '.join(moved)} changed meanwhile, so rules decide instead of the model"
        return decide(new, found, settings), (note,)
    unseen = [each for each in found if each.id not in thought.seen]
    meanwhile = decide(new, unseen, settings)
    return (thought.plan if meanwhile.insert else meanwhile), ()
