"""The relations that go with chunks and entities, and those that others state too."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from hydramem.core.row_types import Chunk, Relation
from hydramem.erase.traces import Traces
from hydramem.ingest.knowledge.end_validity import VERSION_OF
from hydramem.ingest.knowledge.support import in_state, lowered, relations_on, unsupported
from hydramem.storage.schema import RELATES
from hydramem.storage.store import GraphStore
from hydramem.text.normalize import folded

RelationKey = tuple[str, str, str]
"""Subject, object and id."""


def changed_relations(
    chunks: Mapping[str, Chunk], entities: Sequence[str], *, graph: GraphStore, traces: Traces, at: datetime
) -> tuple[frozenset[RelationKey], dict[RelationKey, Relation]]:
    """Return the keys of relations that go, and by key those that stay, as they become.

    A relation goes with its ends, with the last chunk that states it, and with the row whose earlier version
    it is. Another loses the erased chunks from its evidence, and the quote that only they have; as when they
    are forgotten, it falls back a layer or is archived where too little evidence is left.

    Args:
        chunks: The chunks that go, by id.
        entities: Ids of entities that go.
        graph, traces, at: The store, what erased text looks like, and the time of the erasure.
    """
    ids = sorted(chunks)
    found = (*relations_on(ids, graph), *graph.relations(sorted(entities)))
    rows = {RELATES.key_of(row): row for row in found}
    gone = {key for key, row in rows.items() if _goes(row, chunks, entities)}
    named = {id for _, _, id in gone}
    gone |= {key for key, row in rows.items() if row.metadata.get(VERSION_OF) in named}
    fallen = {row.id for _, row in lowered(ids, graph)}
    bare = {row.id for row in unsupported(ids, graph)}
    after = dict[RelationKey, Relation]()
    for key, row in rows.items():
        if key in gone or chunks.keys().isdisjoint(row.evidence):
            continue
        new = replace(row, evidence=tuple(id for id in row.evidence if id not in chunks))
        if row.quote and traces.in_text(row.quote) and not _is_stated(row.quote, new.evidence, graph):
            new = replace(new, quote=None)
        if row.id in fallen:
            new = replace(new, layer="working")
        was_active = any(chunks[id].state == "active" for id in row.evidence if id in chunks)
        after[key] = in_state(new, "archived", at) if row.id in bare and was_active else new
    return frozenset(gone), after


def _goes(row: Relation, chunks: Mapping[str, Chunk], entities: Sequence[str]) -> bool:
    unstated = bool(row.evidence) and chunks.keys() >= set(row.evidence)
    return unstated or row.subject in entities or row.object in entities


def _is_stated(quote: str, chunks: Sequence[str], graph: GraphStore) -> bool:
    return any(folded(quote) in folded(row.text) for row in graph.chunks(chunks))
