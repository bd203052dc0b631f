"""Supersede: newer relations and memories end those that they replace, as `end_validity` decides.

Most of it happens when a fact is ingested. Left for a run are relations that have become certain since, facts
from other sources, memories that may supersede older ones, and memories that were stored without comparison.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from hydramem.core.row_types import Chunk, Relation
from hydramem.garden.phases.supersede.compare_memories import compare, doubtful_first, replacement_link
from hydramem.garden.phases.supersede.possible_replacements import proposed_pairs
from hydramem.garden.phases.supersede.supersede_memories import settled_pairs
from hydramem.garden.proposals.compared_memories import (
    ComparedMemories,
    DoubtfulPair,
    read_compared,
)
from hydramem.garden.proposals.phase_context import PhaseContext, PhaseOutcome, PhaseWork
from hydramem.garden.proposals.proposal import Proposal, precondition_hash
from hydramem.graph.functional_types import functional_types
from hydramem.ingest.knowledge.end_validity import (
    Closing,
    Fact,
    can_coexist,
    closed,
    fact_of,
    facts_ended_by,
    is_version,
    newest_said,
    revised,
)
from hydramem.storage.store import GraphStore
from hydramem.storage.write import Write
from hydramem.verification.conflicts.sentence_clashes import rivals

_MOST_PAIRS = 5000


@dataclass(frozen=True, slots=True, kw_only=True)
class SlotRelation:
    """A relation as one of those that compete for a slot: a subject and a type with one object at a time.

    Attributes:
        fact: As seen from the subject of the slot.
        scopes: Of its evidence; empty without evidence.
    """

    row: Relation
    fact: Fact
    scopes: frozenset[str]


def supersede(context: PhaseContext) -> PhaseOutcome:
    """Propose ends for relations and memories that newer ones replace; unordered ones are left."""
    work = PhaseWork(context)
    relations, more = _relations(work)
    memories, compared, failed = _memories(work)
    if more:
        work.notes.append(f"More than {_MOST_PAIRS} pairs of relations clash; the others wait.")
    if waiting := work.counts["pairs_to_compare"]:
        work.notes.append(f"Pairs of memories that wait to be compared in later runs: {waiting:,}.")
    partial = more or failed or bool(context.budget.over)
    outcome = work.outcome((*relations, *memories), state="partial" if partial else "completed")
    return replace(outcome, compared=compared)


def _memories(work: PhaseWork) -> tuple[list[Proposal], ComparedMemories, bool]:
    """Return what links and ends memories, what was compared, and whether a model failed."""
    context = work.context
    compared = read_compared(context.folder)
    comparison = compare(work, compared)
    doubtful = proposed_pairs(
        [(each.newer, each.older, each.probability) for each in compared.doubtful],
        context.graph,
        at=context.now,
    )
    open_ = [*doubtful, *comparison.pairs]
    joined = {link.id for each in comparison.links.values() for link in each.write.links}
    settling = settled_pairs(work, open_, without=joined)
    links = comparison.links | {pair.link.id: replacement_link(pair, context) for pair in settling.linked}
    settled = {link.id for each in settling.proposals for link in each.write.links}
    left = doubtful_first([pair for pair in open_ if pair.link.id not in settling.asked])
    known = ComparedMemories(
        ids=comparison.ids,
        down_to=comparison.down_to,
        doubtful=tuple(
            DoubtfulPair(newer=each.newer.id, older=each.older.id, probability=each.link.weight)
            for each in left
        ),
    )
    linked = [each for id, each in links.items() if id not in settled]
    work.counts["memories_linked"] = len(linked)
    return [*settling.proposals, *linked], known, settling.failed or comparison.failed


def _relations(work: PhaseWork) -> tuple[list[Proposal], bool]:
    """Return what ends relations, and whether more pairs clash than were looked at."""
    context, snapshot = work.context, work.context.snapshot
    types = frozenset(context.settings.verification.functional)
    seeming = functional_types(snapshot) - types
    pairs, more = rivals(snapshot, types, limit=_MOST_PAIRS)
    # A type that only seems to have one object at a time ends no relation; its clashes are counted.
    unordered, _ = rivals(snapshot, seeming, limit=_MOST_PAIRS) if seeming else ((), False)
    work.counts["clashes_of_seeming_types"] = len(unordered)
    slots: dict[tuple[str, str], set[str]] = defaultdict(set)
    for pair in pairs:
        slots[snapshot.nodes.ids[pair.subject], pair.type] |= set(pair.ids)
    work.counts["relations_clashing"] = sum(map(len, slots.values()))
    rows = _slot_relations(slots, {end for pair in pairs for end in pair.ends}, context)
    found = [proposal for slot in rows if (proposal := _slot_proposal(slot, work)) is not None]
    work.counts["clashes_settled"] = len(found)
    return found, more


def _slot_relations(
    slots: Mapping[tuple[str, str], set[str]], ends: set[str], context: PhaseContext
) -> list[tuple[SlotRelation, ...]]:
    """Read the relations of slots and the times of their evidence, in a few statements."""
    stored = {row.id: row for row in context.graph.relations(sorted(ends))}
    wanted = [stored[id] for ids in slots.values() for id in ids if id in stored]
    chunks = evidence_of(wanted, context.graph)
    return [
        tuple(
            slot_relation(stored[id], subject, chunks)
            for id in sorted(ids)
            if id in stored and stored[id].state == "active" and not is_version(stored[id])
        )
        for (subject, _), ids in sorted(slots.items())
    ]


def evidence_of(rows: Iterable[Relation], graph: GraphStore) -> Mapping[str, Chunk]:
    """Return the stored evidence of relations, by id."""
    ids = sorted({id for row in rows for id in row.evidence})
    return {chunk.id: chunk for chunk in (graph.chunks(ids) if ids else ())}


def slot_relation(row: Relation, subject: str, chunks: Mapping[str, Chunk]) -> SlotRelation:
    """Return a relation as a competitor for the slot of one of its ends.

    Args:
        row: The relation.
        subject: That end.
        chunks: Its evidence, by id.
    """
    evidence = [chunks[id] for id in row.evidence if id in chunks]
    said = newest_said(row, [chunk.happened_at or chunk.times.recorded_at for chunk in evidence])
    return SlotRelation(
        row=row,
        fact=fact_of(row, subject=subject, said_at=said),
        scopes=frozenset(chunk.scope for chunk in evidence),
    )


def in_order(slot: Iterable[SlotRelation]) -> list[SlotRelation]:
    """Return the relations of a slot by when they begin, then by when they were stated."""
    return sorted(slot, key=lambda each: (each.fact.begins, each.fact.said_at, each.row.id))


def _slot_proposal(slot: Sequence[SlotRelation], work: PhaseWork) -> Proposal | None:
    """Return what ends each relation of a slot where the next begins; None where none may end."""
    ordered = in_order(slot)
    ending: dict[str, tuple[Closing, SlotRelation]] = {}
    for place, old in enumerate(ordered):
        for new in ordered[place + 1 :]:
            closing = ends_by(old, new)
            if closing is not None and old.row.id not in work.undone:
                ending[old.row.id] = closing, new
                break
    return _proposal(ordered, ending, work.context) if ending else None


def ends_by(old: SlotRelation, new: SlotRelation) -> Closing | None:
    """Return how one relation ends another; None where it does not, or only a person may end it."""
    if _authority(new.row) < _authority(old.row) or can_coexist(old.row, new.row):
        return None
    if _are_scoped_apart(old, new):
        return None
    return next(iter(facts_ended_by(new.fact, [old.fact]).closings), None)


def why_open(old: SlotRelation, new: SlotRelation) -> str:
    """Say why a relation does not end because of another, in a sentence."""
    if _authority(new.row) < _authority(old.row):
        return "A person, or verification, stands behind the first, and not behind the second."
    if _are_scoped_apart(old, new):
        return "They are said in different scopes."
    clash = next(iter(facts_ended_by(new.fact, [old.fact]).clashes), None)
    reason = "nothing says which" if clash is None else clash.explanation
    return f"{reason[0].upper()}{reason[1:]}."


def _are_scoped_apart(one: SlotRelation, other: SlotRelation) -> bool:
    return bool(one.scopes and other.scopes) and one.scopes.isdisjoint(other.scopes)


def _authority(row: Relation) -> int:
    """Rank the source of a relation: only a person's statement ends what a person stated."""
    if row.origin == "asserted" or (row.verifier or "").startswith("person:"):
        return 2
    return int(row.layer == "verified")


def _proposal(
    slot: Sequence[SlotRelation], ending: Mapping[str, tuple[Closing, SlotRelation]], context: PhaseContext
) -> Proposal:
    begins = {new.row.id: closing.until for closing, new in ending.values()}
    rows: list[Relation] = []
    for each in slot:
        if each.row.id in ending or (each.row.id in begins and each.row.times.valid_from is None):
            rows += _rows(each.row, begins.get(each.row.id), ending.get(each.row.id), context.now)
    written = {row.id for row in rows}
    known = [each.row for each in slot if each.row.id in written or each.row.id in begins]
    stored = {row.id for row in known}
    texts = [
        f"{_named(old.row, context)} ends on {closing.until:%Y-%m-%d}: {_named(new.row, context)}"
        for old in slot
        if old.row.id in ending
        for closing, new in [ending[old.row.id]]
    ]
    first = next(iter(ending))
    return Proposal(
        project=context.project,
        phase="supersede",
        action="change",
        target=first,
        text="; ".join(texts),
        reason=f"There is one at a time, and of the newer one {ending[first][0].explanation}.",
        write=Write(changes=(), relations=tuple(rows)),
        expects=precondition_hash(*known, absent=[row for row in rows if row.id not in stored]),
    )


def _rows(
    row: Relation, begins: datetime | None, ending: tuple[Closing, SlotRelation] | None, at: datetime
) -> tuple[Relation, Relation]:
    """Return a relation with its new times, and the version that was believed until now."""
    start = row.times.valid_from or begins
    current, version = revised(row, valid_from=start, valid_to=row.times.valid_to, at=at)
    if ending is None:
        return current, version
    closing, new = ending
    begun = replace(row, times=replace(row.times, valid_from=start))
    current, _ = closed(begun, until=closing.until, at=at, by=new.row.id)
    return current, version


def _named(row: Relation, context: PhaseContext) -> str:
    ends = (row.subject, row.object)
    nodes = [context.snapshot.node(end) for end in ends]
    subject, object = (
        end if node is None else context.snapshot.label(node) for end, node in zip(ends, nodes, strict=True)
    )
    return f"{subject} {row.type} {object}"
