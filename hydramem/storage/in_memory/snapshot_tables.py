"""The snapshot's Arrow tables from rows, as `storage.schema` describes them."""

from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING, Any

from hydramem.core.row_types import Chunk, Entity, Link, Mention, Relation
from hydramem.storage.schema import QUESTION_MARKS, edge_columns, node_columns

if TYPE_CHECKING:
    import pyarrow as pa

Edge = Relation | Mention | Link


def nodes(entities: Iterable[Entity], chunks: Iterable[Chunk]) -> "pa.Table":
    """Return entities and chunks as the table of nodes."""
    import pyarrow as pa

    rows = [*map(_entity, entities), *map(_chunk, chunks)]
    return pa.Table.from_pylist(rows, schema=node_columns())


def edges(rows: Iterable[Edge], within: Collection[str]) -> "pa.Table":
    """Return those edges as a table that have both ends among some nodes."""
    import pyarrow as pa

    found = [edge for edge in map(_edge, rows) if edge["source"] in within and edge["target"] in within]
    return pa.Table.from_pylist(found, schema=edge_columns())


def _entity(row: Entity) -> dict[str, Any]:
    return {
        "id": row.id,
        "is_chunk": False,
        "type": row.type,
        "name": row.name,
        "key": row.key,
        "aliases": row.aliases,
    }


def _chunk(row: Chunk) -> dict[str, Any]:
    return {
        "id": row.id,
        "is_chunk": True,
        "type": row.kind,
        "layer": row.layer,
        "state": row.state,
        "document": row.document,
        "session": row.session,
        "position": row.position,
        "author": row.author,
        "tokens": row.tokens,
        "asks": row.text.endswith(QUESTION_MARKS),
    }


def _edge(row: Edge) -> dict[str, Any]:
    match row:
        case Mention():
            return {"source": row.chunk, "target": row.entity, "kind": "mention", "weight": row.count}
        case Link():
            ends = {"source": row.source, "target": row.target, "kind": "link", "weight": row.weight}
        case Relation():
            ends = {"source": row.subject, "target": row.object, "kind": "relation", "weight": row.weight}
            ends |= {"bidirectional": row.bidirectional, "supposed": row.supposed, "layer": row.layer}
    return {**ends, "id": row.id, "type": row.type, "state": row.state, **_times(row)}


def _times(row: Relation | Link) -> dict[str, Any]:
    times = row.times
    return {
        "valid_from": times.valid_from,
        "valid_to": times.valid_to,
        "recorded_at": times.recorded_at,
        "retired_at": times.retired_at,
    }
