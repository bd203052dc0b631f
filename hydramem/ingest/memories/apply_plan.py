"""Enact: a plan of consolidation becomes rows, with history instead of deletion."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import assert_never

from hydramem.core.config import MemoryConfig
from hydramem.core.ids import session_id
from hydramem.core.results.write_results import RememberAction
from hydramem.core.row_types import Chunk
from hydramem.ingest.knowledge.end_validity import corrected
from hydramem.ingest.knowledge.trust_layers import corroborated, longest
from hydramem.ingest.memories.consolidate.consolidate import Action, ConsolidationPlan
from hydramem.ingest.memories.memory_identity import life
from hydramem.ingest.memories.memory_write import MemoryWrite
from hydramem.ingest.memories.validate import MemoryDraft, ValidatedMemory, chunk_of, validate
from hydramem.storage.vector_rows import Vector, indexed_text

_UNKNOWN_LIKENESS = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class AppliedPlan:
    """What became of a new memory.

    Attributes:
        row: The memory that stands for it: new, known, or rewritten.
        superseded: Ids of the memories whose place it took.
        notes: What of the plan was not done, and why.
    """

    row: Chunk
    created: bool
    action: RememberAction
    superseded: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanContext:
    """A new memory and those that a plan may touch.

    Attributes:
        row: The new memory as it is stored where nothing is done to it.
        rows: The others, by id, as they are believed.
        cosines: Of the new one with them, where they are known.
        vectors: Of the others, where they are at hand.
    """

    taken: ValidatedMemory
    row: Chunk
    vector: Vector | None
    rows: Mapping[str, Chunk]
    cosines: Mapping[str, float]
    vectors: Mapping[str, Vector]


def merge_known(
    known: Chunk, draft: MemoryDraft, encoding: MemoryWrite, settings: MemoryConfig
) -> AppliedPlan:
    """Note on a memory that it was said again, instead of storing it twice; it lasts as long as either."""
    session = None if draft.session is None else session_id(known.project, draft.session)
    row = corroborated(known, draft.source, session, draft.author, settings)
    row = replace(row, expires_at=longest(known.expires_at, draft.expires_at))
    if row != known:
        encoding.change(known, row, reason="said again")
    return AppliedPlan(row=row, created=False, action="duplicate")


def apply_plan(
    plan: ConsolidationPlan, touching: PlanContext, encoding: MemoryWrite, settings: MemoryConfig
) -> AppliedPlan:
    """Add the rows that a plan comes to.

    Args:
        plan: What is to be done; what it does not name is kept.
        touching: What it is about.
        encoding: The write that it goes into.
        settings: How many voices make a memory shared.
    """
    acting = _Acting(plan, touching, encoding, settings)
    known = next((each for each in plan.actions if each.action == "duplicate"), None)
    if known is not None and not plan.insert:
        done = merge_known(touching.rows[known.id], touching.taken.draft, encoding, settings)
        acting.end(done.row.id)
        acting.give_way(done.row.id)
        return replace(done, superseded=acting.ended, notes=tuple(acting.notes))
    rewritten = acting.rewrite()
    if rewritten is not None and not plan.insert:
        acting.end(rewritten.id)
        acting.give_way(rewritten.id)
        return AppliedPlan(
            row=rewritten,
            created=True,
            action="updated",
            superseded=acting.ended,
            notes=tuple(acting.notes),
        )
    return acting.insert()


class _Acting:
    """Carries one plan out."""

    def __init__(
        self, plan: ConsolidationPlan, touching: PlanContext, encoding: MemoryWrite, settings: MemoryConfig
    ) -> None:
        self._plan = plan
        self._touching = touching
        self._encoding = encoding
        self._settings = settings
        self._rewritten: dict[str, Chunk] = {}
        self.notes: list[str] = []
        self.ended: tuple[str, ...] = ()
        draft = touching.taken.draft
        self._stored = touching.taken.stored
        said_at = encoding.at if self._stored is None else self._stored.times.recorded_at
        self._begins = draft.valid_from or draft.happened_at or said_at

    def insert(self) -> AppliedPlan:
        """Store the new memory, end those whose place it takes, and link it to those it speaks of."""
        ending = [self._touching.rows[each.id] for each in self._closing()]
        row = self._touching.row
        if ending:
            # Before those ended it was not true; and what was private is not told in other words.
            begun = replace(row.times, valid_from=row.times.valid_from or self._begins)
            row = replace(row, times=begun, private=row.private or any(old.private for old in ending))
        self._put(row, self._plan.reason if self._plan.actions else "")
        self.end(row.id)
        extends = self._link(row.id)
        action: RememberAction = "superseding" if self.ended else "extending" if extends else "stored"
        return AppliedPlan(
            row=row, created=True, action=action, superseded=self.ended, notes=tuple(self.notes)
        )

    def _put(self, row: Chunk, reason: str) -> None:
        vector = self._touching.vector
        if self._stored is None:
            self._encoding.insert(row, self._touching.taken.found, vector, reason=reason)
        else:
            self._encoding.refile(self._stored, row, vector, reason=reason)

    def give_way(self, to: str) -> None:
        """Withdraw the new memory where it is stored already and another row stands for it."""
        if self._stored is not None:
            gone = corrected(self._stored, at=self._encoding.at, by=to)
            self._encoding.withdraw(self._stored, gone, reason=self._plan.reason)

    def end(self, by: str) -> None:
        """End the memories whose place is taken, by the row that takes it."""
        for each in self._closing():
            old = self._touching.rows[each.id]
            if old.id == by:
                continue
            successor = self._rewritten[old.id].id if old.id in self._rewritten else by
            self._encoding.supersede(
                old,
                until=self._begins,
                by=successor,
                reason=each.reason or f"superseded by {successor}",
                vector=self._touching.vectors.get(old.id),
            )
            self._encoding.link(
                successor, old.id, "supersedes", weight=self._weight(old.id), reason=each.reason
            )
            self.ended = (*self.ended, old.id)

    def _closing(self) -> list[Action]:
        actions = [each for each in self._plan.actions if each.action in ("update", "delete")]
        return [each for each in actions if self._may_end(self._touching.rows[each.id])]

    def _may_end(self, old: Chunk) -> bool:
        """Say whether a memory can end where the new one begins."""
        begins = old.times.valid_from
        return self._touching.taken.draft.valid_to is None and (begins is None or begins < self._begins)

    def rewrite(self) -> Chunk | None:
        """Store what a model made of memories; return the last, None where there is none."""
        for each in self._closing():
            if each.new_text is not None:
                self._rewrite(self._touching.rows[each.id], each)
        return next(reversed(self._rewritten.values()), None)

    def _rewrite(self, old: Chunk, action: Action) -> None:
        new, encoding = self._touching.taken.draft, self._encoding
        draft = MemoryDraft(
            text=action.new_text or "",
            kind=old.kind,
            scope=old.scope,
            author=old.author,
            valid_from=self._begins,
            metadata=old.metadata,
        )
        (taken,) = validate([draft], self._settings)
        if not taken.active:
            self.notes.append(f"consolidate: what the model made of {old.id} is not taken in")
            return
        id = life(draft, old.project, encoding.target.graph, anew=True).id
        times = replace(old.times, recorded_at=encoding.at, valid_from=self._begins, valid_to=None)
        made = chunk_of(taken, id=id, project=old.project, at=encoding.at)
        row = replace(
            old,
            id=id,
            text=made.text,
            tokens=made.tokens,
            times=times,
            private=old.private or new.private,
            importance=max(old.importance, new.importance or 0.0),
            expires_at=longest(old.expires_at, new.expires_at),
            layer="working",
            summary=None,
            recall_count=0,
            last_recalled_at=None,
        )
        row = corroborated(row, new.source, None, new.author, self._settings)
        (vector,) = encoding.target.embed([indexed_text(row)])
        encoding.insert(row, taken.found, vector, reason=action.reason)
        self._rewritten[old.id] = row

    def _link(self, id: str) -> bool:
        """Link the new memory to those that it speaks of; say whether it extends one."""
        extends = False
        for each in self._plan.actions:
            match each.action:
                case "refine":
                    self._encoding.link(
                        id, each.id, "extends", weight=self._weight(each.id), reason=each.reason
                    )
                    extends = True
                case "contradict":
                    self._contradict(id, each)
                case "update" | "delete":
                    if each.id not in self.ended:
                        self.notes.append(f"consolidate: {each.id} cannot end where this begins; both stay")
                        self._contradict(id, each)
                case "duplicate":
                    pass  # the plan says to store it beside the one it repeats
                case _:
                    assert_never(each.action)
        return extends

    def _contradict(self, id: str, action: Action) -> None:
        self._encoding.link(
            id, action.id, "contradicts", weight=self._weight(action.id), reason=action.reason
        )

    def _weight(self, id: str) -> float:
        return min(1.0, max(0.0, self._touching.cosines.get(id, _UNKNOWN_LIKENESS)))


def ending(plan: ConsolidationPlan) -> Sequence[str]:
    """Return the ids of the memories that a plan may end."""
    return [each.id for each in plan.actions if each.action in ("update", "delete")]


def still(one: Chunk, other: Chunk) -> bool:
    """Say whether a memory is what it was; being recalled changes nothing about it."""
    plain = [replace(row, recall_count=0, last_recalled_at=None) for row in (one, other)]
    return plain[0] == plain[1]
