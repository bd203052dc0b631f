"""What is stored now of what a run wrote, and what hangs on it."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hydramem.core.types import Chunk, Mention, Relation
from hydramem.storage.images import Key, Table, Trace, key_of
from hydramem.storage.rows import Values, decode, encode
from hydramem.storage.schema import (
    CHUNK,
    DOCUMENT,
    ENTITY,
    LINKS,
    MENTIONS,
    RELATES,
    SESSION,
    EdgeTable,
    NodeTable,
)
from hydramem.storage.store import ChunkFilter, GraphStore, Listing

Address = tuple[str, Key]
"""Name of a table, and a row's key in it."""

_PAGE = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class Stored:
    """The rows that an undo looks at, values as `rows.encode` has them.

    Attributes:
        rows: What is there of what the run wrote, the ends of its edges, and what its chunks mention.
        mentions: Of the chunks that it wrote, and of the entities that it made.
        by_chunk: What each chunk that it wrote mentions.
        relations: Around the entities that it made, and around what its chunks mention.
        chunks: Of the documents and sessions that it made.
    """

    rows: Mapping[Address, Values]
    mentions: tuple[Mention, ...]
    by_chunk: Mapping[str, tuple[str, ...]]
    relations: tuple[Relation, ...]
    chunks: tuple[Chunk, ...]


def look_up(traces: Sequence[Trace], graph: GraphStore) -> Stored:
    """Read what taking these traces back, or some of them, must know."""
    made = {
        table.name: [trace.key[0] for trace in traces if trace.table is table and trace.before is None]
        for table in (DOCUMENT, SESSION, ENTITY, CHUNK)
    }
    written = [trace.key[0] for trace in traces if trace.table is CHUNK]
    by_chunk: dict[str, list[str]] = defaultdict(list)
    for mention in (named := graph.mentions(written)):
        by_chunk[mention.chunk].append(mention.entity)
    mentions = {*named, *graph.mentioned(made["Entity"])}
    of_made = set(made["Chunk"])
    near = {row.entity for row in mentions if row.chunk in of_made}
    chunks = (
        *(row for id in made["Document"] for row in _chunks(ChunkFilter(documents=(id,), states=()), graph)),
        *(row for id in made["Session"] for row in _chunks(ChunkFilter(sessions=(id,), states=()), graph)),
    )
    return Stored(
        rows=_rows(traces, {mention.entity for mention in named}, graph),
        mentions=tuple(mentions),
        by_chunk={chunk: tuple(entities) for chunk, entities in by_chunk.items()},
        relations=graph.relations(sorted(near.union(made["Entity"]))),
        chunks=tuple({row.id: row for row in chunks}.values()),
    )


def _rows(traces: Sequence[Trace], mentioned: set[str], graph: GraphStore) -> dict[Address, Values]:
    keys: dict[str, list[Key]] = {
        table.name: [trace.key for trace in traces if trace.table is table]
        for table in (DOCUMENT, SESSION, ENTITY, CHUNK, MENTIONS, RELATES, LINKS)
    }
    ends = _ends(traces)
    found: dict[Table, Iterable[Any]] = {
        DOCUMENT: graph.documents([*_ids(keys["Document"]), *ends["Document"]]),
        SESSION: graph.sessions([*_ids(keys["Session"]), *ends["Session"]]),
        ENTITY: graph.entities([*_ids(keys["Entity"]), *ends["Entity"], *sorted(mentioned)]),
        CHUNK: graph.chunks([*_ids(keys["Chunk"]), *ends["Chunk"]]),
        MENTIONS: graph.mentions(_ids(keys["MENTIONS"])),
        RELATES: graph.relations(_ids(keys["RELATES"])),
        LINKS: graph.links(_ids(keys["LINKS"])),
    }
    rows: dict[Address, Values] = {}
    for table, items in found.items():
        wanted = set(keys[table.name]) if isinstance(table, EdgeTable) else None
        for item in items:
            values = encode(table, item)
            key = key_of(table, values)
            if wanted is None or key in wanted:
                rows[table.name, key] = values
    return rows


def _ids(keys: Sequence[Key]) -> list[str]:
    return list(dict.fromkeys(key[0] for key in keys))


def _ends(traces: Sequence[Trace]) -> dict[str, list[str]]:
    """Return the ids of the nodes that a row must have where it comes back, by table."""
    ends: dict[str, dict[str, None]] = {name: {} for name in ("Document", "Session", "Entity", "Chunk")}
    for trace in traces:
        if isinstance(trace.table, EdgeTable):
            ends[trace.table.source][trace.key[0]] = None
            ends[trace.table.target][trace.key[1]] = None
        elif trace.table is CHUNK and trace.before is not None:
            for name, column in (("Document", "document"), ("Session", "session")):
                if id := trace.before.get(column):
                    ends[name][id] = None
    return {name: list(ids) for name, ids in ends.items()}


def _chunks(where: ChunkFilter, graph: GraphStore) -> list[Chunk]:
    found = list[Chunk]()
    while page := graph.list_chunks(where, Listing(limit=_PAGE, offset=len(found))):
        found.extend(page)
    return found


def row_of(table: Table, values: Values) -> Any:
    """Return the row that values stand for."""
    columns = [values[column.name] for column in table.columns]
    if isinstance(table, NodeTable):
        return decode(table, columns)
    return decode(table, [values["_from"], values["_to"], *columns])
