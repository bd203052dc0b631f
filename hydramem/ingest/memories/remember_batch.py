"""What becomes of one memory after the other, compared with those near it, while the writer lock is held."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from hydramem.core.config import MemoryConfig
from hydramem.core.errors import ModelError
from hydramem.core.results.write_results import Remembered
from hydramem.core.row_types import Chunk, Job
from hydramem.core.time import not_ahead
from hydramem.ingest.memories.apply_plan import AppliedPlan, PlanContext, unchanged
from hydramem.ingest.memories.classify.classify import Classified
from hydramem.ingest.memories.compare.ask_models import ModelSuggestions, classify_by_rules, same_text
from hydramem.ingest.memories.compare.neighbours import (
    NO_NEIGHBOURS,
    Neighbours,
    candidates,
    compatible_scopes,
    find_neighbours,
    is_near,
)
from hydramem.ingest.memories.consolidate.duplicate_or_update import (
    Action,
    ConsolidationPlan,
    Judgements,
    decide,
    ending,
    may_touch,
    one_subject,
    with_replaced,
)
from hydramem.ingest.memories.consolidate.near_memories import near_memories
from hydramem.ingest.memories.consolidate.restatement import restated
from hydramem.ingest.memories.memory_input import ValidatedMemory
from hydramem.ingest.memories.memory_write import (
    MemoryIdentity,
    MemoryWrite,
    memory_identity,
    remembered,
    session_row,
)
from hydramem.ingest.memories.replaced_memories import replaced_memories
from hydramem.ingest.memories.similarity import NearbyChunk
from hydramem.ingest.pending_jobs import ENCODE, LINK, embed_jobs
from hydramem.llm.pair_classifier import bounds
from hydramem.storage.jobs import job
from hydramem.storage.vector_rows import Vector, VectorStore
from hydramem.text.restated_text import can_restate

# Candidates that the classifier reads: a memory that changes is nearly always among the nearest few.
_JUDGED = 5

# Candidates of any subject whose texts can say the same that it reads too: rivals of one form are nearer.
_SAID_AGAIN = 3

_STEPS_LATER = ("embed", "consolidate", "link")
_ID_MAY_CHANGE = "encoded later: another memory may come to stand for this id, or this one for others"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Compared:
    """What a new memory was compared with, what is to be done, and what could not be."""

    plan: ConsolidationPlan = field(default_factory=ConsolidationPlan)
    candidates: tuple[NearbyChunk, ...] = ()
    judgements: Judgements
    notes: tuple[str, ...] = ()


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
        """Add the rows of one memory; what is known only after the commit is left out of the result.

        Raises:
            NotFoundError: A memory that it replaces is not in the project.
            InvalidInputError: A memory that it replaces cannot end.
        """
        encoded = memory.is_encoded(self._settings)
        neighbours = self._neighbours(memory, vector, suggestions) if encoded else NO_NEIGHBOURS
        memory = _with_known_scope(memory, neighbours)
        classified = suggestions.classified
        if classified is None and encoded:
            classified = classify_by_rules(memory, neighbours.nearest, self._target)
        if classified is not None:
            memory = replace(memory, row=classified.file(memory.row, scope_found="scope" in memory.open))
        identity = memory_identity(memory.row, memory.given.session, self._write)
        row = identity.known or self._new_row(memory, identity)
        compared = _Compared(judgements={})
        if identity.known is not None:
            known = Action(id=row.id, action="duplicate", reason="It is known.")
            compared = replace(compared, plan=ConsolidationPlan(actions=(known,), insert=False))
        elif encoded and memory.is_steady and vector is not None:
            compared = self._compare(memory, row, vector, neighbours, suggestions)
        applied = self._apply(memory, row, vector, compared)
        if vector is not None and applied.created and applied.row.id in self._write.rows:
            self._added[applied.row.id] = vector
        return self._result(memory, applied, classified, compared, suggestions)

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
        scope_found = "scope" in memory.open
        memory = _with_known_scope(memory, neighbours)
        found = suggestions.classified or classify_by_rules(memory, neighbours.nearest, self._target)
        memory = replace(memory, row=found.file(memory.row, scope_found=scope_found))
        if suggestions.classified is None:  # the other fields were found by rules when it was stored
            kept = {name: getattr(row, name) for name in ("importance", "keywords", "summary")}
            found = replace(found, **kept)
        row = replace(found.file(row, scope_found=scope_found), vector_state="ready")
        if memory.is_steady:
            compared = self._compare(memory, row, vector, neighbours, suggestions)
            self._apply(memory, row, vector, compared)
        else:
            self._write.refile(memory.stored, row, vector, reason="")

    def _neighbours(
        self, memory: ValidatedMemory, vector: Vector | None, suggestions: ModelSuggestions
    ) -> Neighbours:
        reads = memory.is_steady or (bool(memory.open) and suggestions.classified is None)
        if vector is None or not reads:
            return NO_NEIGHBOURS
        return find_neighbours(
            vector,
            target=self._target,
            vectors=self._vectors,
            within=memory.searched_within,
            stored=memory.stored,
        )

    def _new_row(self, memory: ValidatedMemory, identity: MemoryIdentity) -> Chunk:
        write, project, session = self._write, self._target.project, memory.given.session
        if session is not None:
            write.add_session(
                session_row(session, project, memory.touches_before or write.at, self._target.graph)
            )
        return memory.placed(
            identity.id, project=project, at=write.at, position=identity.position, embedded=not write.deferred
        )

    def _compare(
        self,
        memory: ValidatedMemory,
        row: Chunk,
        vector: Vector,
        neighbours: Neighbours,
        suggestions: ModelSuggestions,
    ) -> _Compared:
        """Compare a memory with those near it, stored ones and those of this write."""
        before = memory.touches_before
        stored = candidates(row, neighbours, target=self._target, at=not_ahead(self._write.at), before=before)
        # A candidate that this write changes is compared as it becomes.
        current = (replace(one, chunk=self._write.rows.get(one.chunk.id, one.chunk)) for one in stored)
        near = [*(one for one in current if one.chunk.state == "active"), *self._of_this_write(row, vector)]
        near.sort(key=lambda one: -(one.cosine or 0.0))
        found = tuple(near)
        judgements, same, notes = self._judge(row, found)
        plan = decide(row, found, judgements, bounds(), restated=same)
        if plan.insert and suggestions.plan is not None:
            plan, more = _model_plan(suggestions.plan, plan, found, suggestions.seen)
            notes = (*notes, *more)
        return _Compared(plan=plan, candidates=found, judgements=judgements, notes=notes)

    def _judge(
        self, row: Chunk, found: Sequence[NearbyChunk]
    ) -> tuple[Judgements, Mapping[str, float], tuple[str, ...]]:
        """Return what the classifier says of the nearest, which of them are said again, and why it failed."""
        touched = [one.chunk for one in found if may_touch(row, one.chunk)]
        subjects = {one.id for one in [each for each in touched if one_subject(row, each)][:_JUDGED]}
        again = {
            one.id for one in [each for each in touched if can_restate(row.text, each.text)][:_SAID_AGAIN]
        }
        judged = [one for one in touched if one.id in subjects or one.id in again]
        if not judged:
            return {}, {}, ()
        try:
            made = self._target.judge(row.text, [one.text for one in judged])
            known = {one.id: each for one, each in zip(judged, made, strict=True) if each is not None}
            same = restated(row.text, {one.id: one.text for one in judged}, known, self._target.judge)
        except ModelError as error:
            return {}, {}, (f"consolidate: nothing was compared by meaning ({error})",)
        return {id: each for id, each in known.items() if id in subjects or id in same}, same, ()

    def _apply(
        self, memory: ValidatedMemory, row: Chunk, vector: Vector | None, compared: _Compared
    ) -> AppliedPlan:
        known = {one.chunk.id: one for one in compared.candidates}
        replaced = replaced_memories(memory, row, self._write)
        known |= {one.id: NearbyChunk(chunk=one) for one in replaced if one.id not in known}
        if not compared.plan.insert:
            known.setdefault(row.id, NearbyChunk(chunk=row))
        plan = with_replaced(compared.plan, [one.id for one in replaced])
        context = PlanContext(
            plan=plan,
            memory=memory,
            row=row,
            vector=vector,
            candidates=known,
            vectors=self._vectors_of(ending(plan)),
            write=self._write,
            settings=self._settings,
        )
        return context.apply()

    def _of_this_write(self, new: Chunk, vector: Vector) -> list[NearbyChunk]:
        """Return the memories of this write that one may change."""
        rows = (self._write.rows[id] for id in self._added)
        near = (
            NearbyChunk(chunk=row, cosine=float(np.dot(self._added[row.id], vector)))
            for row in rows
            if row.state == "active" and compatible_scopes(new, row)
        )
        return [one for one in near if is_near(one, self._target)]

    def _vectors_of(self, ids: Sequence[str]) -> Mapping[str, Vector]:
        stored = [id for id in ids if id not in self._added]
        read = self._vectors.vectors(stored) if stored and self._vectors is not None else {}
        return {**read, **{id: self._added[id] for id in ids if id in self._added}}

    def _result(
        self,
        memory: ValidatedMemory,
        applied: AppliedPlan,
        classified: Classified | None,
        compared: _Compared,
        suggestions: ModelSuggestions,
    ) -> Remembered:
        notes = (
            *(classified.notes if classified else ()),
            *suggestions.notes,
            *compared.notes,
            *applied.notes,
        )
        pending = self._pending(applied.row, memory) if applied.created else ()
        if self._write.deferred and len(pending) > 1:
            notes = (*notes, _ID_MAY_CHANGE)
        near = near_memories(
            compared.candidates, compared.judgements, bounds(), ended=(*applied.superseded, applied.row.id)
        )
        return replace(
            remembered(applied.row, created=applied.created, action=applied.action),
            superseded=applied.superseded,
            near=near if applied.created else (),
            steps=self._steps(memory, applied, classified, compared=bool(compared.candidates)),
            pending=pending,
            notes=notes,
            usage=suggestions.usage,
            reasons=memory.screened.reasons,
            masked=memory.screened.masked,
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


def _model_plan(
    plan: ConsolidationPlan,
    by_rules: ConsolidationPlan,
    found: Sequence[NearbyChunk],
    seen: Mapping[str, Chunk],
) -> tuple[ConsolidationPlan, tuple[str, ...]]:
    """Return a model's plan where its memories are as they were, else the one by rules."""
    rows = {one.chunk.id: one.chunk for one in found}
    ids = [each.id for each in plan.actions]
    changed = [id for id in ids if id not in rows or not unchanged(rows[id], seen[id])]
    if changed:
        note = f"consolidate: {', '.join(changed)} changed meanwhile, so rules decide instead of the model"
        return by_rules, (note,)
    return plan, ()
