"""Graphs for the tests: rows made by hand, and the tables that a store would give for them."""

from datetime import UTC, datetime

import pyarrow as pa

from hydramem.core.ids import entity_id, link_id, relation_id, session_id
from hydramem.core.row_types import Chunk, Entity, Link, Mention, Relation, Times
from hydramem.storage.changes import record
from hydramem.storage.schema import QUESTION_MARKS, edge_columns, node_columns
from hydramem.storage.write import Write
from hydramem.text.normalize import entity_key

P = "default"
THEN = datetime(2024, 1, 1, tzinfo=UTC)


def entity(name: str, *, aliases: tuple[str, ...] = ()) -> Entity:
    key = entity_key(name)
    return Entity(
        id=entity_id(P, key), project=P, key=key, name=name, aliases=aliases, first_seen=THEN, last_seen=THEN
    )


def chunk(id: str, text: str = "", **values: object) -> Chunk:
    plain = {"project": P, "kind": "passage", "times": Times(recorded_at=THEN), "source": f"{id}.txt"}
    return Chunk(id=id, text=text or id, **(plain | values))


def turn(session: str, position: int, text: str = "", **values: object) -> Chunk:
    plain = {"kind": "turn", "session": session_id(P, session), "position": position, "tokens": 20}
    return chunk(f"{session}-{position}", text, **(plain | values))


def relation(subject: Entity, type: str, object: Entity, **values: object) -> Relation:
    plain = {"origin": "extracted", "times": Times(recorded_at=THEN)}
    return Relation(
        id=relation_id(P, subject.id, type, object.id, None),
        project=P,
        subject=subject.id,
        type=type,
        object=object.id,
        **(plain | values),
    )


def link(source: Chunk, target: Chunk) -> Link:
    return Link(
        id=link_id(P, source.id, "extends", target.id),
        source=source.id,
        target=target.id,
        type="extends",
        weight=0.5,
        times=Times(recorded_at=THEN),
    )


def mention(chunk: Chunk, entity: Entity, count: int = 1) -> Mention:
    return Mention(chunk=chunk.id, entity=entity.id, count=count)


def write(*rows: object) -> Write:
    def of(kind: type) -> tuple:
        return tuple(row for row in rows if isinstance(row, kind))

    return Write(
        changes=(record("ingest", project=P, target="t"),),
        chunks=of(Chunk),
        entities=of(Entity),
        relations=of(Relation),
        mentions=of(Mention),
        links=of(Link),
    )


def tables(*rows: object) -> tuple[pa.Table, pa.Table]:
    nodes = [_node(row) for row in rows if isinstance(row, Chunk | Entity)]
    edges = [_edge(row) for row in rows if isinstance(row, Relation | Mention | Link)]
    return pa.Table.from_pylist(nodes, node_columns()), pa.Table.from_pylist(edges, edge_columns())


def _node(row: Chunk | Entity) -> dict[str, object]:
    names = node_columns().names
    values = {name: getattr(row, name, None) for name in names}
    return values | {
        "is_chunk": isinstance(row, Chunk),
        "type": row.kind if isinstance(row, Chunk) else row.type,
        "asks": isinstance(row, Chunk) and row.text.endswith(QUESTION_MARKS),
    }


def _edge(row: Relation | Mention | Link) -> dict[str, object]:
    names = edge_columns().names
    times = getattr(row, "times", None)
    values = {name: getattr(row, name, None) for name in names} | {
        name: getattr(times, name, None) for name in ("valid_from", "valid_to", "recorded_at", "retired_at")
    }
    if isinstance(row, Relation):
        return values | {
            "source": row.subject,
            "target": row.object,
            "kind": "relation",
            "weight": row.confidence,
        }
    if isinstance(row, Mention):
        return values | {
            "source": row.chunk,
            "target": row.entity,
            "kind": "mention",
            "weight": row.count,
            "type": None,
        }
    return values | {"kind": "link"}
