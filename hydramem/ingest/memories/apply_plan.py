"""A plan of consolidation becomes rows, with history instead of deletion."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import assert_never

from hydramem.core.config import MemoryConfig
from hydramem.core.ids import session_id
from hydramem.core.inputs import MemoryInput
from hydramem.core.results.write_results import RememberAction
from hydramem.core.row_types import Chunk, LinkType
from hydramem.core.time import not_ahead
from hydramem.ingest.knowledge.end_validity import corrected
from hydramem.ingest.knowledge.trust_layers import latest_end, raised_by_voices
from hydramem.ingest.memories.consolidate.duplicate_or_update import ENDING, Action, ConsolidationPlan
from hydramem.ingest.memories.memory_input import ValidatedMemory, validate
from hydramem.ingest.memories.memory_write import MemoryWrite, current_generation
from hydramem.ingest.memories.similarity import NearbyChunk
from hydramem.storage.vector_rows import Vector, indexed_text

_UNKNOWN_COSINE = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class AppliedPlan:
    """What became of a new memory.

    Attributes:
        row: The memory that represents it: new, known, or rewritten.
        superseded: Ids of the memories whose place it took.
        notes: What of the plan was not done, and why.
    """

    row: Chunk
    created: bool
    action: RememberAction
    superseded: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def merge_known(
    known: Chunk, memory: ValidatedMemory, write: MemoryWrite, settings: MemoryConfig
) -> AppliedPlan:
    """Record that a memory was stated again, instead of storing it twice; it lasts as long as either."""
    given = memory.given
    session = None if given.session is None else session_id(known.project, given.session)
    row = raised_by_voices(known, given.source, session, memory.row.author, settings)
    row = replace(row, expires_at=latest_end(known.expires_at, memory.row.expires_at))
    if row != known:
        write.change(known, row, reason="said again")
    return AppliedPlan(row=row, created=False, action="duplicate")


@dataclass(slots=True, kw_only=True)
class PlanContext:
    """A plan for a new memory, what it may change, and what was done so far.

    Attributes:
        plan: What is to be done; a memory that it does not name is kept.
        row: The new memory as it is stored where nothing is done to it.
        candidates: The memories that may change, by id, as they are believed.
        vectors: Of those that end, where they are at hand.
        write: The write that gains the rows.
        settings: How many distinct sources make a memory shared.
    """

    plan: ConsolidationPlan
    memory: ValidatedMemory
    row: Chunk
    vector: Vector | None
    candidates: Mapping[str, NearbyChunk]
    vectors: Mapping[str, Vector]
    write: MemoryWrite
    settings: MemoryConfig
    _rewritten: dict[str, Chunk] = field(default_factory=dict)
    _ended: list[str] = field(default_factory=list)
    _notes: list[str] = field(default_factory=list)

    def apply(self) -> AppliedPlan:
        """Add the rows that the plan leads to."""
        known = next((each for each in self.plan.actions if each.action == "duplicate"), None)
        if known is not None and not self.plan.insert:
            old = self.candidates[known.id].chunk
            done = merge_known(old, self.memory, self.write, self.settings)
            return self._replaced_by(done)
        rewritten = self._rewrite_all()
        if rewritten is not None and not self.plan.insert:
            return self._replaced_by(AppliedPlan(row=rewritten, created=True, action="updated"))
        return self._insert()

    def _replaced_by(self, done: AppliedPlan) -> AppliedPlan:
        """Use another row in place of the new memory, which is withdrawn if it is stored already."""
        self._end(done.row.id)
        stored = self.memory.stored
        if stored is not None:
            gone = corrected(stored, at=self.write.at, by=done.row.id)
            self.write.withdraw(stored, gone, reason=self.plan.reason)
        return replace(done, superseded=tuple(self._ended), notes=tuple(self._notes))

    @property
    def _begins(self) -> datetime:
        """From when the new memory is true."""
        row = self.memory.row
        return (
            row.times.valid_from or row.happened_at or self.memory.touches_before or not_ahead(self.write.at)
        )

    def _insert(self) -> AppliedPlan:
        """Store the new memory, end those whose place it takes, and link it to those it speaks of."""
        ending = [self.candidates[each.id].chunk for each in self._closing()]
        row = self.row
        if ending:
            # Before those ended it was not true; and what was private is not told in other words.
            begun = replace(row.times, valid_from=row.times.valid_from or self._begins)
            row = replace(row, times=begun, private=row.private or any(old.private for old in ending))
        reason = self.plan.reason if self.plan.actions else ""
        if self.memory.stored is None:
            self.write.insert(row, self.memory.found, self.vector, reason=reason)
        else:
            self.write.refile(self.memory.stored, row, self.vector, reason=reason)
        self._end(row.id)
        extends = self._link_all(row.id)
        action: RememberAction = "superseding" if self._ended else "extending" if extends else "stored"
        return AppliedPlan(
            row=row, created=True, action=action, superseded=tuple(self._ended), notes=tuple(self._notes)
        )

    def _end(self, by: str) -> None:
        """End the memories whose place is taken, by the row that takes it."""
        for each in self._closing():
            old = self.candidates[each.id].chunk
            if old.id == by:
                continue
            successor = self._rewritten[old.id].id if old.id in self._rewritten else by
            self.write.supersede(
                old,
                until=self._begins,
                by=successor,
                reason=each.reason or f"superseded by {successor}",
                vector=self.vectors.get(old.id),
            )
            self._link(successor, each, "supersedes")
            self._ended.append(old.id)

    def _closing(self) -> list[Action]:
        actions = [each for each in self.plan.actions if each.action in ENDING]
        return [each for each in actions if self._may_end(self.candidates[each.id].chunk)]

    def _may_end(self, old: Chunk) -> bool:
        """Say whether a memory can end where the new one begins."""
        begins = old.times.valid_from
        return self.memory.row.times.valid_to is None and (begins is None or begins < self._begins)

    def _rewrite_all(self) -> Chunk | None:
        """Store the new texts that a model gives memories; return the last row, None without any."""
        for each in self._closing():
            if each.new_text is not None:
                self._rewrite(self.candidates[each.id].chunk, each)
        return next(reversed(self._rewritten.values()), None)

    def _rewrite(self, old: Chunk, action: Action) -> None:
        new, write = self.memory.row, self.write
        given = MemoryInput(
            text=action.new_text or "",
            kind=old.kind,
            scope=old.scope,
            author=old.author,
            valid_from=self._begins,
            metadata=old.metadata,
        )
        (made,) = validate([given], self.settings)
        if not made.active:
            self._notes.append(f"consolidate: what the model made of {old.id} is not taken in")
            return
        id = current_generation(made.row, old.project, write.target.graph, always_next=True).id
        row = replace(
            old,
            id=id,
            text=made.row.text,
            tokens=made.row.tokens,
            times=replace(old.times, recorded_at=write.at, valid_from=self._begins, valid_to=None),
            private=old.private or new.private,
            importance=max(old.importance, new.importance),
            expires_at=latest_end(old.expires_at, new.expires_at),
            layer="working",
            summary=None,
            recall_count=0,
            last_recalled_at=None,
        )
        row = raised_by_voices(row, self.memory.given.source, None, new.author, self.settings)
        (vector,) = write.target.embed([indexed_text(row)])
        write.insert(row, made.found, vector, reason=action.reason)
        self._rewritten[old.id] = row

    def _link_all(self, id: str) -> bool:
        """Link the new memory to those that it speaks of; say whether it extends one."""
        extends = False
        for each in self.plan.actions:
            match each.action:
                case "refine":
                    self._link(id, each, "extends")
                    extends = True
                case "contradict":
                    self._link(id, each, "contradicts")
                case "may_supersede":
                    self._link(id, each, "may_supersede")
                case "repeats":
                    self._link(id, each, "duplicates")
                case "update" | "delete":
                    if each.id not in self._ended:
                        self._notes.append(f"consolidate: {each.id} cannot end where this begins; both stay")
                        self._link(id, each, "contradicts")
                case "duplicate":
                    pass  # the plan says to store it in addition to the one it repeats
                case _:
                    assert_never(each.action)
        return extends

    def _link(self, source: str, action: Action, type: LinkType) -> None:
        likely = action.probability
        weight = link_weight(self.candidates[action.id].cosine) if likely is None else likely
        self.write.link(source, action.id, type, weight=weight, reason=action.reason)


def link_weight(cosine: float | None) -> float:
    """Return the weight of a link between memories of a cosine, which may be unknown."""
    return _UNKNOWN_COSINE if cosine is None else min(1.0, max(0.0, cosine))


def unchanged(one: Chunk, other: Chunk) -> bool:
    """Say whether a memory is as it was; being recalled does not count."""
    plain = [replace(row, recall_count=0, last_recalled_at=None) for row in (one, other)]
    return plain[0] == plain[1]
