"""Supersede: what is newer ends what it takes the place of, as `ingest.supersede` alone decides.

Most of it happens when a fact comes in. What is left for the night: relations that were not certain then and
are now, facts that came from elsewhere, and memories that were stored as given.
"""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from hydramem.core.row_types import Chunk, Relation
from hydramem.garden.phases.supersede.supersede_memories import updates
from hydramem.garden.proposals.exclusions import UndoneRows
from hydramem.garden.proposals.phase_context import PhaseContext, PhaseOutcome
from hydramem.garden.proposals.proposal import Proposal, precondition_hash
from hydramem.graph.functional_types import functional_types
from hydramem.ingest.knowledge.end_validity import (
    Closing,
    Fact,
    can_coexist,
    closed,
    fact_of,
    is_version,
    newest_said,
    revised,
)
from hydramem.ingest.knowledge.end_validity import end_validity as decide
from hydramem.storage.schema import RELATES
from hydramem.storage.write import Write
from hydramem.verification.conflicts.sentence_clashes import rivals

_MOST_PAIRS = 5000


@dataclass(frozen=True, slots=True, kw_only=True)
class SlotRelation:
    """A relation of a slot, as it stands there.

    Attributes:
        fact: As seen from the subject of the slot.
        scopes: Where its evidence belongs; none where it has none.
    """

    row: Relation
    fact: Fact
    scopes: frozenset[str]


def supersede(ground: PhaseContext) -> PhaseOutcome:
    """End relations and memories whose place something newer takes; what cannot be ordered is left."""
    counts: Counter[str] = Counter()
    undone = UndoneRows(ground.graph, ground.project)
    relations, more = _of_relations(ground, undone, counts)
    memories, notes = updates(ground, undone, counts)
    if more:
        notes = (*notes, f"More than {_MOST_PAIRS} pairs of relations clash; the others wait.")
    partial = more or bool(ground.budget.over)
    return PhaseOutcome(
        proposals=(*relations, *memories),
        counts=dict(sorted(counts.items())),
        state="partial" if partial else "completed",
        notes=notes,
        usage=ground.budget.usage,
    )


def _of_relations(
    ground: PhaseContext, undone: UndoneRows, counts: Counter[str]
) -> tuple[list[Proposal], bool]:
    types = frozenset(ground.settings.verification.functional)
    seeming = functional_types(ground.snapshot) - types
    pairs, more = rivals(ground.snapshot, types, limit=_MOST_PAIRS)
    # Of a type that only seems to have one object at a time nothing is ended; the clash is told.
    unordered, _ = rivals(ground.snapshot, seeming, limit=_MOST_PAIRS) if seeming else ((), False)
    counts["clashes_of_seeming_types"] = len(unordered)
    slots: dict[tuple[str, str], set[str]] = defaultdict(set)
    for pair in pairs:
        slots[ground.snapshot.nodes.ids[pair.subject], pair.type] |= set(pair.ids)
    counts["relations_clashing"] = sum(map(len, slots.values()))
    proposals: list[Proposal] = []
    for held in _read(slots, {end for pair in pairs for end in pair.ends}, ground):
        made = _settled(held, undone, ground)
        if made is not None:
            proposals.append(made)
    counts["clashes_settled"] = len(proposals)
    return proposals, more


def _read(
    slots: Mapping[tuple[str, str], set[str]], ends: set[str], ground: PhaseContext
) -> list[tuple[SlotRelation, ...]]:
    """Read the relations of slots and when their evidence was said, in a few statements."""
    stored = {row.id: row for row in ground.graph.relations(sorted(ends))}
    wanted = [row for ids in slots.values() for id in ids if (row := stored.get(id)) is not None]
    evidence = sorted({id for row in wanted for id in row.evidence})
    chunks = {chunk.id: chunk for chunk in ground.graph.chunks(evidence)}
    return [
        tuple(
            slot_relation(
                stored[id], subject, [chunks[each] for each in stored[id].evidence if each in chunks]
            )
            for id in sorted(ids)
            if id in stored and stored[id].state == "active" and not is_version(stored[id])
        )
        for (subject, _), ids in sorted(slots.items())
    ]


def slot_relation(row: Relation, subject: str, evidence: Sequence[Chunk]) -> SlotRelation:
    """Return a relation as it stands in the slot of one of its ends, by what was said of it and where."""
    said = newest_said(row, [chunk.happened_at or chunk.times.recorded_at for chunk in evidence])
    return SlotRelation(
        row=row,
        fact=fact_of(row, subject=subject, said_at=said),
        scopes=frozenset(chunk.scope for chunk in evidence),
    )


def _settled(slot: Sequence[SlotRelation], undone: UndoneRows, ground: PhaseContext) -> Proposal | None:
    """Let each relation of a slot end where the next begins; None where none may."""
    in_order = sorted(slot, key=lambda each: (each.fact.begins, each.fact.said_at, each.row.id))
    ending: dict[str, tuple[Closing, SlotRelation]] = {}
    for place, old in enumerate(in_order):
        for new in in_order[place + 1 :]:
            closing = ends_by(old, new)
            if closing is not None and old.row.id not in undone:
                ending[old.row.id] = closing, new
                break
    return _proposal(in_order, ending, ground) if ending else None


def ends_by(old: SlotRelation, new: SlotRelation) -> Closing | None:
    """Return how a relation ends because of another; None where it does not, or may not without a person."""
    if _standing(new.row) < _standing(old.row) or can_coexist(old.row, new.row):
        return None
    if old.scopes and new.scopes and old.scopes.isdisjoint(new.scopes):
        return None
    return next(iter(decide(new.fact, [old.fact]).closings), None)


def why_open(old: SlotRelation, new: SlotRelation) -> str:
    """Say why a relation does not end because of another, in a sentence."""
    if _standing(new.row) < _standing(old.row):
        return "A person, or verification, stands behind the first, and not behind the second."
    if old.scopes and new.scopes and old.scopes.isdisjoint(new.scopes):
        return "They are said in different scopes."
    clash = next(iter(decide(new.fact, [old.fact]).clashes), None)
    told = "nothing says which" if clash is None else clash.explanation
    return f"{told[0].upper()}{told[1:]}."


def _standing(row: Relation) -> int:
    """Rank who stands behind a relation: what a person says ends only by what a person says."""
    if row.origin == "asserted" or (row.verifier or "").startswith("person:"):
        return 2
    return int(row.layer == "verified")


def _proposal(
    slot: Sequence[SlotRelation], ending: Mapping[str, tuple[Closing, SlotRelation]], ground: PhaseContext
) -> Proposal:
    begins = {new.row.id: closing.until for closing, new in ending.values()}
    rows: list[Relation] = []
    for each in slot:
        if each.row.id in ending or (each.row.id in begins and each.row.times.valid_from is None):
            rows += _rows(each.row, begins.get(each.row.id), ending.get(each.row.id), ground.now)
    touched = {row.id for row in rows}
    known = [each.row for each in slot if each.row.id in touched or each.row.id in begins]
    stored = {row.id for row in known}
    said = [
        f"{_named(old.row, ground)} ends on {closing.until:%Y-%m-%d}: {_named(new.row, ground)}"
        for old in slot
        if old.row.id in ending
        for closing, new in [ending[old.row.id]]
    ]
    first = next(iter(ending))
    return Proposal(
        project=ground.project,
        phase="supersede",
        action="change",
        target=first,
        text="; ".join(said),
        reason=f"There is one at a time, and of the newer one {ending[first][0].explanation}.",
        write=Write(changes=(), relations=tuple(rows)),
        expects=precondition_hash(*known, absent=[(RELATES, row) for row in rows if row.id not in stored]),
    )


def _rows(
    row: Relation, begins: datetime | None, ending: tuple[Closing, SlotRelation] | None, at: datetime
) -> tuple[Relation, Relation]:
    """Return a relation with the times that it has from now on, and the version believed until now."""
    start = row.times.valid_from or begins
    current, version = revised(row, valid_from=start, valid_to=row.times.valid_to, at=at)
    if ending is None:
        return current, version
    closing, new = ending
    begun = replace(row, times=replace(row.times, valid_from=start))
    current, _ = closed(begun, until=closing.until, at=at, by=new.row.id)
    return current, version


def _named(row: Relation, ground: PhaseContext) -> str:
    return f"{_name(row.subject, ground)} {row.type} {_name(row.object, ground)}"


def _name(entity: str, ground: PhaseContext) -> str:
    node = ground.snapshot.node(entity)
    return entity if node is None else ground.snapshot.label(node)
