"""Names and claims of chunks as rows of the graph, merged with those stored."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from hydramem.core.ids import relation_id
from hydramem.core.types import Candidate, Chunk, Entity, Mention, Origin, Relation, Times, Verdict
from hydramem.ingest.extract.found import Found, Name
from hydramem.ingest.resolve import merge, resolve
from hydramem.ingest.target import Target
from hydramem.storage.store import GraphStore

_MOST_EVIDENCE = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class Stated:
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
class Woven:
    """Rows that some chunks add to the graph.

    Attributes:
        before: Mention counts of the entities as they were stored; new ones are not in it.
        at: The time of the write.
    """

    entities: tuple[Entity, ...] = ()
    mentions: tuple[Mention, ...] = ()
    stated: tuple[Stated, ...] = ()
    before: dict[str, int]
    at: datetime

    def crossing(self, enough: Callable[[int], bool]) -> tuple[Entity, ...]:
        """Return the entities that have enough mentions now and had not before."""
        return tuple(
            row
            for row in self.entities
            if enough(row.mention_count) and not enough(self.before.get(row.id, 0))
        )


def weave(
    found: Sequence[tuple[str, Found]],
    *,
    target: Target,
    at: datetime,
    counted: Iterable[str] = (),
    retired: Sequence[str] = (),
) -> Woven:
    """Resolve what chunks name, and return the entities and mentions to store and what is stated.

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
    return Woven(
        entities=tuple(entities),
        mentions=tuple(Mention(chunk=chunk, entity=id, count=count) for (chunk, id), count in counts.items()),
        stated=tuple(_stated(found, ids, project)),
        before={id: row.mention_count for id, row in stored.items()},
        at=at,
    )


def _stated(found: Sequence[tuple[str, Found]], ids: dict[str, str], project: str) -> Iterable[Stated]:
    for chunk, each in found:
        for claim in each.claims:
            subject, object = ids[claim.subject], ids[claim.object]
            if subject != object:
                yield Stated(
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


def relate(
    stated: Iterable[Stated],
    *,
    target: Target,
    before: dict[str, int],
    at: datetime,
    chunks: Mapping[str, Chunk],
    entities: Sequence[Entity],
    origin: Origin = "extracted",
) -> tuple[list[Relation], list[Relation]]:
    """Turn statements into relations, those stored already gaining evidence.

    Args:
        stated: What chunks state.
        target: Where they go, and who decides on each new one.
        before: Mention counts of the entities that were stored before; a relation of others is new.
        at: The time of the write.
        chunks: The chunks of the write, by id.
        entities: The entities of the write.
        origin: Who says so: extraction, or an agent.

    Returns:
        Relations to store, and relations refused.
    """
    grouped: dict[str, list[Stated]] = defaultdict(list)
    for each in stated:
        grouped[each.id].append(each)
    stored = _stored(grouped.values(), target.graph, before)
    known = [_gained(old, grouped[id]) for id, old in stored.items() if id in grouped]
    fresh = [
        _new(group, project=target.project, at=at, origin=origin)
        for id, group in grouped.items()
        if id not in stored
    ]
    if target.accept is None or not fresh:
        return [*known, *fresh], []
    verdicts = target.accept(_candidates(fresh, target.graph, chunks, entities))
    judged = [decided(relation, verdict, at) for relation, verdict in zip(fresh, verdicts, strict=True)]
    kept = [relation for relation in judged if relation.verdict != "rejected"]
    return [*known, *kept], [relation for relation in judged if relation.verdict == "rejected"]


def decided(relation: Relation, verdict: Verdict, at: datetime) -> Relation:
    """Return a relation with what verification decided on it."""
    return replace(
        relation,
        verdict=verdict.decision,
        probability=verdict.score,
        verifier=verdict.verifier,
        verified_at=at,
        scores=verdict.scores,
        quote=verdict.quote or relation.quote,
    )


def _candidates(
    relations: Sequence[Relation],
    graph: GraphStore,
    chunks: Mapping[str, Chunk],
    entities: Sequence[Entity],
) -> list[Candidate]:
    ends = {row.id: row for row in entities}
    missing = {end for relation in relations for end in (relation.subject, relation.object)} - ends.keys()
    ends |= {row.id: row for row in graph.entities(sorted(missing))}
    return [
        Candidate(
            relation=relation,
            subject=ends[relation.subject],
            object=ends[relation.object],
            passages=tuple(chunks[id] for id in relation.evidence if id in chunks),
        )
        for relation in relations
    ]


def _stored(
    groups: Iterable[Sequence[Stated]], graph: GraphStore, before: dict[str, int]
) -> dict[str, Relation]:
    """Look up relations whose ends both were there, by the end that is named less often."""
    ends = set()
    for first, *_ in groups:
        if first.subject in before and first.object in before:
            ends.add(min(first.subject, first.object, key=lambda id: (before[id], id)))
    return {relation.id: relation for relation in graph.relations(sorted(ends))} if ends else {}


def _gained(old: Relation, group: Sequence[Stated]) -> Relation:
    """Return a stored relation with more evidence; what only lost its support is believed again."""
    evidence = dict.fromkeys((*old.evidence, *(each.chunk for each in group)))
    revived = old.state == "archived" and old.origin == "extracted"
    return replace(
        old,
        evidence=tuple(evidence)[-_MOST_EVIDENCE:],
        confidence=max(old.confidence, *(each.confidence for each in group)),
        quote=old.quote or group[0].quote,
        state="active" if revived else old.state,
        times=replace(old.times, retired_at=None) if revived else old.times,
    )


def _new(group: Sequence[Stated], *, project: str, at: datetime, origin: Origin) -> Relation:
    best = max(group, key=lambda each: each.confidence)
    return Relation(
        id=best.id,
        project=project,
        subject=best.subject,
        type=best.type,
        object=best.object,
        confidence=best.confidence,
        origin=origin,
        evidence=tuple(dict.fromkeys(each.chunk for each in group))[:_MOST_EVIDENCE],
        quote=best.quote,
        times=Times(recorded_at=at, valid_from=best.valid_from, valid_to=best.valid_to),
    )
