"""Conflicts: relations and sentences that cannot both be true, each side with its evidence and times.

Relations of a functional type conflict where they hold at one moment with different objects. Sentences of
different chunks conflict where they differ in one decisive place. A model, where there is one, reads what the
rules found and may find that both can be true. Nothing is stored.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import islice

from hydramem.core.config import VerificationConfig
from hydramem.core.results.verdicts import Conflict, Conflicts, ConflictSide
from hydramem.core.row_types import Chunk, Relation
from hydramem.graph.functional_types import functional_types
from hydramem.graph.snapshot.snapshot import Snapshot
from hydramem.ingest.knowledge.end_validity import can_coexist
from hydramem.llm.contracts import Generator
from hydramem.storage.chunk_filter import ChunkFilter, within_scope
from hydramem.storage.schema import CHUNK
from hydramem.storage.store import GraphStore
from hydramem.verification.conflicts.conflict_prompt import judged
from hydramem.verification.conflicts.sentence_clashes import (
    ChunkSentence,
    Rivals,
    SentenceClash,
    rivals,
    sentence_clashes,
)

MOST_CHUNKS = 50_000
_MOST_OF_ENTITY = 5_000
_SEEMING = 0.7  # a type that is functional only by the store's own relations counts less
_COMPARED = ChunkFilter(kinds=("passage", "note", "fact", "event"))


def conflicts(
    node: int | None,
    *,
    snapshot: Snapshot,
    graph: GraphStore,
    settings: VerificationConfig,
    generator: Generator | None,
    limit: int,
    include_private: bool = True,
) -> Conflicts:
    """Find what contradicts what in a project.

    Args:
        node: The entity; None for the whole project.
        graph: Where relations and chunks are read.
        settings: Functional types, and how many pairs a model may read.
        generator: Reads what the rules found; None leaves that as it is.
        include_private: Whether sentences of private memories are compared.
    """
    where = replace(_COMPARED, projects=(snapshot.project,), include_private=include_private)
    of_relations, more = _of_relations(node, snapshot, graph, settings, limit)
    chunks = tuple(_chunks(node, snapshot, graph, where))
    name = None if node is None else snapshot.label(node)
    known = {
        frozenset((a, b)) for one in of_relations for a in one.older.evidence for b in one.newer.evidence
    }
    of_texts = [
        _of_texts(clash, name)
        for clash in sentence_clashes(chunks)
        if frozenset((clash.older.chunk.id, clash.newer.chunk.id)) not in known
    ]
    ranked = sorted((*of_relations, *of_texts), key=lambda one: -one.score)
    notes = []
    if more or len(ranked) > limit:
        notes.append(f"there are more than the {limit} that were asked for")
    if len(chunks) >= (MOST_CHUNKS if node is None else _MOST_OF_ENTITY):
        notes.append(f"only {len(chunks):,} chunks were compared; name an entity to look closer")
    kept, model_notes = judged(ranked[:limit], generator, most=settings.vog_max_candidates)
    return Conflicts(conflicts=kept, chunks=len(chunks), notes=(*notes, *model_notes))


def _chunks(node: int | None, snapshot: Snapshot, graph: GraphStore, where: ChunkFilter) -> Iterator[Chunk]:
    if node is None:
        every = (chunk for batch in graph.scan(CHUNK) for chunk in batch)
        yield from islice((chunk for chunk in every if where.admits(chunk)), MOST_CHUNKS)
        return
    ids = [mention.chunk for mention in graph.mentioned([snapshot.nodes.ids[node]])]
    yield from (chunk for chunk in graph.chunks(ids[:_MOST_OF_ENTITY]) if where.admits(chunk))


def _of_relations(
    node: int | None, snapshot: Snapshot, graph: GraphStore, settings: VerificationConfig, limit: int
) -> tuple[list[Conflict], bool]:
    seeming = functional_types(snapshot)
    types = {*settings.functional, *seeming}
    pairs, more = rivals(snapshot, types, node=node, limit=limit)
    ends = sorted({end for pair in pairs for end in pair.ends})
    relations = {row.id: row for row in graph.relations(ends)} if ends else {}
    evidence = sorted({id for row in relations.values() for id in row.evidence})
    chunks = {chunk.id: chunk for chunk in graph.chunks(evidence)}
    found = [
        _conflict(pair, relations, chunks, snapshot, pair.type in settings.functional)
        for pair in pairs
        if all(id in relations for id in pair.ids)
        and not can_coexist(*(relations[id] for id in pair.ids))
        and not _in_unrelated_scopes(*(relations[id] for id in pair.ids), chunks=chunks)
    ]
    return found, more


def _in_unrelated_scopes(one: Relation, other: Relation, *, chunks: Mapping[str, Chunk]) -> bool:
    """Say whether the evidence of two relations is of unrelated scopes."""
    mine, yours = ({chunks[id].scope for id in row.evidence if id in chunks} for row in (one, other))
    related = any(within_scope(a, b) or within_scope(b, a) for a in mine for b in yours)
    return bool(mine) and bool(yours) and not related


def _conflict(
    pair: Rivals,
    relations: Mapping[str, Relation],
    chunks: Mapping[str, Chunk],
    snapshot: Snapshot,
    configured: bool,
) -> Conflict:
    sides = [_relation_side(relations[id], chunks, snapshot) for id in pair.ids]
    older, newer = sorted(sides, key=lambda side: (side.said_at, side.id))
    usual = (
        "has one object at a time" if configured else "has one object at a time as far as this memory shows"
    )
    return Conflict(
        kind="relation",
        entity=snapshot.label(pair.subject),
        older=older,
        newer=newer,
        score=round(pair.weight * (1.0 if configured else _SEEMING), 4),
        explanation=f"{pair.type} {usual}, and both hold at one moment.",
    )


def _relation_side(row: Relation, chunks: Mapping[str, Chunk], snapshot: Snapshot) -> ConflictSide:
    names = [
        node if node is None else snapshot.label(node)
        for node in map(snapshot.node, (row.subject, row.object))
    ]
    passages = [chunks[id] for id in row.evidence if id in chunks]
    moments = [chunk.happened_at or chunk.times.recorded_at for chunk in passages]
    return ConflictSide(
        id=row.id,
        text=f"{names[0]} -[{row.type}]-> {names[1]}",
        quote=row.quote,
        evidence=row.evidence,
        source=", ".join(dict.fromkeys(chunk.source for chunk in passages)),
        said_at=max(moments, default=row.times.recorded_at),
        valid_from=row.times.valid_from,
        valid_to=row.times.valid_to,
    )


def _of_texts(clash: SentenceClash, entity: str | None) -> Conflict:
    one, other = clash.contrast.one, clash.contrast.other
    said = "one denies what the other says" if clash.contrast.kind == "negation" else f"{one} or {other}"
    return Conflict(
        kind=clash.contrast.kind,
        entity=entity,
        older=_text_side(clash.older),
        newer=_text_side(clash.newer),
        score=clash.score,
        explanation=f"The same is said twice, with another {clash.contrast.kind}: {said}.",
    )


def _text_side(said: ChunkSentence) -> ConflictSide:
    chunk = said.chunk
    return ConflictSide(
        id=chunk.id,
        text=" ".join(said.saying.text.split()),
        quote=said.saying.text,
        evidence=(chunk.id,),
        source=chunk.source,
        said_at=chunk.happened_at or chunk.times.recorded_at,
        valid_from=chunk.times.valid_from,
        valid_to=chunk.times.valid_to,
    )
