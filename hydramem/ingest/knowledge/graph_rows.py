"""Turns names and claims of chunks into rows of the graph, merged with the stored ones."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from hydramem.core.ids import relation_id
from hydramem.core.row_types import (
    Change,
    Chunk,
    Entity,
    Mention,
    Relation,
    RelationCandidate,
    Times,
    Verdict,
)
from hydramem.ingest.extraction.findings import Found, Name
from hydramem.ingest.knowledge.end_validity import may_return, returned, withdrawn
from hydramem.ingest.knowledge.resolve import merge, resolve
from hydramem.ingest.write_target import Target
from hydramem.storage.changes import record
from hydramem.storage.outbox import worth_a_vector
from hydramem.storage.store import GraphStore

MOST_EVIDENCE = 64
"""Chunks that a relation names as its evidence; of more, the newest stay."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ResolvedClaim:
    """A claim between resolved entities, and the chunk that makes it."""

    id: str
    subject: str
    type: str
    object: str
    confidence: float
    quote: str | None
    chunk: str
    valid_from: datetime | None = None
    valid_to: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphRows:
    """Rows that some chunks add to the graph.

    Attributes:
        before: Mention counts of the entities as they were stored; new ones are not in it.
        at: The time of the write.
    """

    entities: tuple[Entity, ...] = ()
    mentions: tuple[Mention, ...] = ()
    stated: tuple[ResolvedClaim, ...] = ()
    before: dict[str, int]
    at: datetime

    @property
    def created(self) -> int:
        """How many of the entities are new."""
        return sum(entity.id not in self.before for entity in self.entities)

    @property
    def names_to_embed(self) -> dict[str, str]:
        """The names, by id, of the entities that become worth a vector."""
        return names_to_embed(self.entities, self.before)


def names_to_embed(rows: Iterable[Entity], before: Mapping[str, int]) -> dict[str, str]:
    """Return the names, by id, of the entities that become worth a vector by a write.

    Args:
        rows: The entities of the write.
        before: Their mention counts as stored, by id; new entities are not in it.
    """
    return {
        row.id: row.name
        for row in rows
        if worth_a_vector(row.mention_count) and not worth_a_vector(before.get(row.id, 0))
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class Refused:
    """A rejected relation, the reason in words, and its stored row where it had one."""

    relation: Relation
    reason: str
    before: Relation | None = None

    def change(self, operation: str) -> Change:
        """Record the refusal; a relation that was not stored before is in the history alone."""
        return relation_change(operation, self.before, self.relation, self.reason or None)


def relation_change(operation: str, before: Relation | None, after: Relation, reason: str | None) -> Change:
    """Record what becomes of a relation."""
    return record(
        operation, project=after.project, target=after.id, before=before, after=after, reason=reason
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedRelationRows:
    """Relations to store, and those that were refused."""

    kept: tuple[Relation, ...] = ()
    refused: tuple[Refused, ...] = ()


def graph_rows(
    found: Sequence[tuple[str, Found]],
    *,
    target: Target,
    at: datetime,
    counted: Iterable[str] = (),
    retired: Sequence[str] = (),
) -> GraphRows:
    """Resolve the names of chunks, and return the entities and mentions to store and the resolved claims.

    Args:
        found: (chunk id, what it names and states).
        target: Where they go.
        at: The time of the write.
        counted: Chunks stored before with their mentions, which must not be counted again.
        retired: Chunks that no longer count.
    """
    project, graph = target.project, target.graph
    ids = resolve((name for _, each in found for name in each.names), project=project, known=target.known)
    counts: dict[tuple[str, str], int] = defaultdict(int)
    named: dict[str, list[Name]] = defaultdict(list)
    for chunk, each in found:
        for name in each.names:
            counts[chunk, ids[name.name]] += name.count
            named[ids[name.name]].append(name)
    had = {(mention.chunk, mention.entity) for mention in graph.mentions(list(counted))} if counted else set()
    gained: dict[str, int] = defaultdict(int)
    for chunk, entity in counts:
        gained[entity] += (chunk, entity) not in had
    for mention in graph.mentions(retired) if retired else ():
        gained[mention.entity] -= 1
    stored = {row.id: row for row in graph.entities(list(gained))}
    entities = [
        merge(stored.get(id), list(dict.fromkeys(named[id])), id=id, project=project, mentions=more, at=at)
        for id, more in gained.items()
        if id in stored or named[id]
    ]
    return GraphRows(
        entities=tuple(entities),
        mentions=tuple(Mention(chunk=chunk, entity=id, count=count) for (chunk, id), count in counts.items()),
        stated=tuple(_stated(found, ids, project)),
        before={id: row.mention_count for id, row in stored.items()},
        at=at,
    )


def _stated(found: Sequence[tuple[str, Found]], ids: dict[str, str], project: str) -> Iterable[ResolvedClaim]:
    for chunk, each in found:
        for claim in each.claims:
            subject, object = ids[claim.subject], ids[claim.object]
            if subject != object:
                yield ResolvedClaim(
                    id=relation_id(project, subject, claim.type, object, claim.valid_from),
                    subject=subject,
                    type=claim.type,
                    object=object,
                    confidence=claim.confidence,
                    quote=claim.quote,
                    chunk=chunk,
                    valid_from=claim.valid_from,
                    valid_to=claim.valid_to,
                )


def relate(rows: GraphRows, *, target: Target, chunks: Mapping[str, Chunk]) -> JudgedRelationRows:
    """Turn claims into relations; stored ones gain evidence.

    New ones are judged, and those that gained evidence are judged again, unless a person or a model that
    read it has decided.

    Args:
        rows: What the chunks of a write add to the graph, with their claims.
        target: Where they go, and who decides.
        chunks: The chunks of the write, by id.

    Returns:
        What to store, and what was refused.
    """
    grouped: dict[str, list[ResolvedClaim]] = defaultdict(list)
    for each in rows.stated:
        grouped[each.id].append(each)
    stored = _stored(grouped.values(), target.graph, rows.before)
    known = {id: _gained(old, grouped[id]) for id, old in stored.items() if id in grouped}
    fresh = [
        _new(group, project=target.project, at=rows.at) for id, group in grouped.items() if id not in stored
    ]
    if target.accept is None:
        return JudgedRelationRows(kept=(*known.values(), *fresh))
    gained = [row for id, row in known.items() if row.evidence != stored[id].evidence and not is_given(row)]
    asked = [*fresh, *gained]
    verdicts = target.accept(candidates_of(asked, target.graph, chunks=chunks, entities=rows.entities))
    return _judged(zip(asked, verdicts, strict=True), known, stored, rows.at)


def _judged(
    asked: Iterable[tuple[Relation, Verdict]],
    known: Mapping[str, Relation],
    stored: Mapping[str, Relation],
    at: datetime,
) -> JudgedRelationRows:
    """Return what verdicts make of relations: known ones with what they gained, and new ones."""
    refused: list[Refused] = []
    kept = dict(known)
    for old, verdict in asked:
        row = decided(old, verdict, at)
        if row.verdict != "rejected":
            kept[row.id] = returned(row) if old.verdict == "rejected" else row
            continue
        if old.id in known:
            kept[row.id] = row = withdrawn(row, at) if old.state == "active" else row
        refused.append(Refused(relation=row, reason=verdict.explanation, before=stored.get(row.id)))
    return JudgedRelationRows(kept=tuple(kept.values()), refused=tuple(refused))


def is_given(relation: Relation) -> bool:
    """Return whether a person, or a model that read the evidence, has decided on a relation."""
    return (relation.verifier or "").startswith(("person:", "vog:"))


def decided(relation: Relation, verdict: Verdict, at: datetime) -> Relation:
    """Return a relation with what verification decided on it.

    What a person decided only a person changes, and what a model that read the evidence decided only such a
    model or a person: otherwise the relation is returned as it is.
    """
    if is_given(relation) and verdict.stage == "srmkg":
        return relation
    if verdict.stage != "person" and (relation.verifier or "").startswith("person:"):
        return relation
    return replace(
        relation,
        verdict=verdict.decision,
        probability=verdict.score,
        verifier=verdict.verifier,
        verified_at=at,
        scores=verdict.scores,
        quote=verdict.quote or relation.quote,
        layer=verdict.layer or relation.layer,
    )


def candidates_of(
    relations: Sequence[Relation],
    graph: GraphStore,
    *,
    chunks: Mapping[str, Chunk] | None = None,
    entities: Sequence[Entity] = (),
) -> list[RelationCandidate]:
    """Return relations with their ends and with those chunks of their evidence that are active.

    Args:
        relations: Stored, or about to be.
        graph: Where the rest is read.
        chunks: Chunks of the write at hand, by id.
        entities: Entities of the write at hand.
    """
    chunks = dict(chunks or {})
    wanted = {id for relation in relations for id in relation.evidence} - chunks.keys()
    chunks |= {row.id: row for row in graph.chunks(sorted(wanted)) if row.state == "active"}
    ends = {row.id: row for row in entities}
    missing = {end for relation in relations for end in (relation.subject, relation.object)} - ends.keys()
    ends |= {row.id: row for row in graph.entities(sorted(missing))}
    return [
        RelationCandidate(
            relation=relation,
            subject=ends[relation.subject],
            object=ends[relation.object],
            passages=tuple(chunks[id] for id in relation.evidence if id in chunks),
        )
        for relation in relations
    ]


def _stored(
    groups: Iterable[Sequence[ResolvedClaim]], graph: GraphStore, before: dict[str, int]
) -> dict[str, Relation]:
    """Return stored relations whose two ends are both stored, looked up by the rarer end."""
    ends = set()
    for first, *_ in groups:
        if first.subject in before and first.object in before:
            ends.add(min(first.subject, first.object, key=lambda id: (before[id], id)))
    return {relation.id: relation for relation in graph.relations(sorted(ends))} if ends else {}


def _gained(old: Relation, group: Sequence[ResolvedClaim]) -> Relation:
    """Return a stored relation with more evidence, active again where it had only lost its evidence."""
    evidence = dict.fromkeys((*old.evidence, *(each.chunk for each in group)))
    if may_return(old) and old.origin == "extracted":
        old = returned(old)
    return replace(
        old,
        origin="extracted" if old.origin == "inferred" else old.origin,
        evidence=tuple(evidence)[-MOST_EVIDENCE:],
        confidence=max(old.confidence, *(each.confidence for each in group)),
        quote=old.quote or group[0].quote,
    )


def _new(group: Sequence[ResolvedClaim], *, project: str, at: datetime) -> Relation:
    best = max(group, key=lambda each: each.confidence)
    return Relation(
        id=best.id,
        project=project,
        subject=best.subject,
        type=best.type,
        object=best.object,
        confidence=best.confidence,
        origin="extracted",
        evidence=tuple(dict.fromkeys(each.chunk for each in group))[:MOST_EVIDENCE],
        quote=best.quote,
        times=Times(recorded_at=at, valid_from=best.valid_from, valid_to=best.valid_to),
    )
