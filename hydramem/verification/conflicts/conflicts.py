"""Conflicts: relations and sentences that cannot both be true, each side with its evidence and times.

Relations of a functional type conflict where they hold at one moment with different objects. Sentences of
different chunks conflict where a link says so, or where the pair classifier, which reads near ones, leans to
it. A model, where there is one, reads what these found and may find that both can be true. Nothing is stored.
"""

from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from datetime import datetime

from hydramem.core.config import VerificationConfig
from hydramem.core.errors import ModelError
from hydramem.core.results.verdicts import Conflict, Conflicts, ConflictSide, conflict_id
from hydramem.core.row_types import Chunk, Relation, State
from hydramem.core.time import now
from hydramem.graph.functional_types import functional_types
from hydramem.graph.snapshot.snapshot import Snapshot
from hydramem.ingest.knowledge.end_validity import can_coexist
from hydramem.llm.contracts import Generator
from hydramem.llm.pair_classifier import JudgePairs, judge_none
from hydramem.storage.chunk_filter import LIVE, ChunkFilter, within_scope
from hydramem.storage.store import GraphStore, Listing
from hydramem.storage.vector_rows import Vector
from hydramem.verification.conflicts.conflict_prompt import judged
from hydramem.verification.conflicts.near_sentences import ChunkSentence, near_sentences
from hydramem.verification.conflicts.sentence_clashes import (
    Rivals,
    SentenceClash,
    judged_clashes,
    linked_clashes,
    rivals,
    settled_pairs,
)

MOST_CHUNKS = 5_000
_MOST_JUDGED = 600
"""Pairs of sentences that the classifier reads in a call."""

_SEEMING = 0.7  # a type that is functional only by the store's own relations counts less
_COMPARED = ChunkFilter(kinds=("passage", "note", "fact", "event"))

VectorsOf = Callable[[Sequence[str]], Mapping[str, Vector]]
"""Returns the vectors of chunks by id; those without one are left out."""


def conflicts(
    node: int | None,
    *,
    snapshot: Snapshot,
    graph: GraphStore,
    settings: VerificationConfig,
    generator: Generator | None,
    limit: int,
    vectors: VectorsOf = lambda ids: {},
    judge: JudgePairs = judge_none,
    include_private: bool = True,
    states: tuple[State, ...] = LIVE,
    as_of: datetime | None = None,
    known_at: datetime | None = None,
) -> Conflicts:
    """Find what contradicts what in a project.

    Args:
        node: The entity; None for the whole project.
        graph: Where relations and chunks are read.
        settings: Functional types, and how many pairs a model may read.
        generator: Reads what was found; None leaves that as it is.
        limit: Most conflicts.
        vectors: Returns the vectors of chunks.
        judge: Says what a newer sentence is to older ones.
        include_private: Whether sentences of private memories are compared.
        states: Of which states relations, links and chunks are.
        as_of: A moment at which both sides hold; any one by default.
        known_at: A moment at which both sides were believed; now by default.
    """
    where = replace(
        _COMPARED,
        projects=(snapshot.project,),
        include_private=include_private,
        states=states,
        at=as_of,
        known_at=known_at,
    )
    of_relations, more = _of_relations(node, snapshot, graph, settings, where, limit)
    chunks = _chunks(node, snapshot, graph, where)
    name = None if node is None else snapshot.label(node)
    known = {
        frozenset((a, b)) for one in of_relations for a in one.older.evidence for b in one.newer.evidence
    }
    clashes, notes = _clashes(chunks, known, snapshot, where, vectors, judge)
    of_texts = [_of_texts(clash, name) for clash in clashes]
    ranked = sorted((*of_relations, *of_texts), key=lambda one: -one.score)
    if more or len(ranked) > limit:
        notes.append(f"there are more than the {limit} that were asked for")
    if len(chunks) >= MOST_CHUNKS:
        notes.append(f"only {len(chunks):,} chunks were compared; name an entity to look closer")
    kept, model_notes = judged(ranked[:limit], generator, most=settings.vog_max_candidates)
    return Conflicts(conflicts=kept, chunks=len(chunks), notes=(*notes, *model_notes))


def _chunks(node: int | None, snapshot: Snapshot, graph: GraphStore, where: ChunkFilter) -> tuple[Chunk, ...]:
    """Return the chunks to compare, of the whole project the newest."""
    if node is None:
        return graph.list_chunks(where, Listing(limit=MOST_CHUNKS))
    ids = [mention.chunk for mention in graph.mentioned([snapshot.nodes.ids[node]])]
    return tuple(chunk for chunk in graph.chunks(ids[:MOST_CHUNKS]) if where.admits(chunk))


def _clashes(
    chunks: Sequence[Chunk],
    known: AbstractSet[frozenset[str]],
    snapshot: Snapshot,
    where: ChunkFilter,
    vectors: VectorsOf,
    judge: JudgePairs,
) -> tuple[list[SentenceClash], list[str]]:
    """Return what contradicts what among chunks, each pair of chunks once, and notes.

    Args:
        known: Pairs of chunks whose conflict is known already, by their ids.
    """
    known = known | settled_pairs(snapshot, where.known_at or now())
    linked = linked_clashes({row.id: row for row in chunks}, snapshot, where)
    notes: list[str] = []
    by_classifier: tuple[SentenceClash, ...] = ()
    if judge is not judge_none:
        near = near_sentences(chunks, vectors([row.id for row in chunks]), most=_MOST_JUDGED)
        try:
            by_classifier = judged_clashes(near, judge)
        except ModelError as error:
            notes.append(f"sentences were not compared: {error}")
    found: dict[frozenset[str], SentenceClash] = {}
    for clash in (*linked, *by_classifier):
        pair = frozenset((clash.older.chunk.id, clash.newer.chunk.id))
        if pair not in known and len(pair) == 2:
            found.setdefault(pair, clash)
    return list(found.values()), notes


def _of_relations(
    node: int | None,
    snapshot: Snapshot,
    graph: GraphStore,
    settings: VerificationConfig,
    where: ChunkFilter,
    limit: int,
) -> tuple[list[Conflict], bool]:
    seeming = functional_types(snapshot)
    types = {*settings.functional, *seeming}
    pairs, more = rivals(snapshot, types, node=node, where=where, limit=limit)
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
        id=conflict_id(older.id, newer.id),
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
    differing = "" if clash.kind == "statement" else f", with another {clash.kind}"
    older, newer = _text_side(clash.older), _text_side(clash.newer)
    return Conflict(
        id=conflict_id(older.id, newer.id),
        kind=clash.kind,
        entity=entity,
        older=older,
        newer=newer,
        score=clash.score,
        explanation=f"Two statements of one matter{differing}: both may not hold.",
        judged_by=clash.by,
    )


def _text_side(said: ChunkSentence) -> ConflictSide:
    chunk = said.chunk
    return ConflictSide(
        id=chunk.id,
        text=said.text,
        quote=said.text,
        evidence=(chunk.id,),
        source=chunk.source,
        said_at=said.said_at,
        valid_from=chunk.times.valid_from,
        valid_to=chunk.times.valid_to,
    )
