"""The current rows of what a run wrote, and the rows that depend on them."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hydramem.core.row_types import Chunk, Mention, Relation
from hydramem.storage.chunk_filter import ChunkFilter
from hydramem.storage.row_codec import Values, decode, encode
from hydramem.storage.schema import CHUNK, DOCUMENT, ENTITY, SESSION, EdgeTable, NodeTable, Table
from hydramem.storage.store import GraphStore, Listing
from hydramem.storage.undo.row_images import TABLES, Address, Trace, rows_at

_PAGE = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class Stored:
    """The rows that an undo reads, values as `row_codec.encode` has them.

    Attributes:
        rows: Rows that the run wrote, the ends of its edges, and what its chunks mention.
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
    """Read the rows that undoing these traces, or some of them, depends on."""
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
    of_chunks = {row.entity for row in mentions if row.chunk in of_made}
    chunks = (
        *(row for id in made["Document"] for row in _chunks(ChunkFilter(documents=(id,), states=()), graph)),
        *(row for id in made["Session"] for row in _chunks(ChunkFilter(sessions=(id,), states=()), graph)),
    )
    return Stored(
        rows=_rows(traces, {mention.entity for mention in named}, graph),
        mentions=tuple(mentions),
        by_chunk={chunk: tuple(entities) for chunk, entities in by_chunk.items()},
        relations=graph.relations(sorted(of_chunks.union(made["Entity"]))),
        chunks=tuple({row.id: row for row in chunks}.values()),
    )


def _rows(traces: Sequence[Trace], mentioned: set[str], graph: GraphStore) -> dict[Address, Values]:
    wanted = [(trace.table.name, trace.key) for trace in traces]
    wanted += [(ENTITY.name, (id,)) for id in sorted(mentioned)]
    found = rows_at([*wanted, *_ends(traces)], graph)
    return {address: encode(TABLES[address[0]], row) for address, row in found.items()}


def _ends(traces: Sequence[Trace]) -> Iterator[Address]:
    """Yield the nodes that must exist for a row to be restored."""
    for trace in traces:
        if isinstance(trace.table, EdgeTable):
            yield trace.table.source, (trace.key[0],)
            yield trace.table.target, (trace.key[1],)
        elif trace.table is CHUNK and trace.before is not None:
            for name, column in ((DOCUMENT.name, "document"), (SESSION.name, "session")):
                if id := trace.before.get(column):
                    yield name, (id,)


def _chunks(where: ChunkFilter, graph: GraphStore) -> list[Chunk]:
    found = list[Chunk]()
    while page := graph.list_chunks(where, Listing(limit=_PAGE, offset=len(found))):
        found.extend(page)
    return found


def row_of(table: Table, values: Values) -> Any:
    """Return the row that values represent."""
    columns = [values[column.name] for column in table.columns]
    if isinstance(table, NodeTable):
        return decode(table, columns)
    return decode(table, [values["_from"], values["_to"], *columns])
