"""Writes a project as GraphML: entities and memories as nodes; relations, mentions and links as edges.

The format is described at http://graphml.graphdrawing.org; Gephi, yEd, Cytoscape and NetworkX read it.
"""

import re
from collections.abc import Iterator, Mapping, Sequence, Set
from datetime import datetime
from pathlib import Path
from typing import Any, TextIO
from xml.sax.saxutils import escape, quoteattr

from hydramem.core.errors import InvalidInputError
from hydramem.core.results.exchange_results import Exported
from hydramem.core.row_types import Chunk, Entity, Relation
from hydramem.storage.files.durable_files import storage_errors
from hydramem.storage.schema import CHUNK, ENTITY, RELATES, Table
from hydramem.storage.store import GraphStore

_BATCH = 1000
_KINDS = ("note", "fact", "event")
_UNFIT = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_NODE = {"what": "string", "name": "string", "type": "string", "text": "string", "scope": "string"}
_NODE |= {"layer": "string", "importance": "double", "happened_at": "string", "recorded_at": "string"}
_NODE |= {"mentions": "int"}
_EDGE = {"type": "string", "confidence": "double", "layer": "string", "verdict": "string"}
_EDGE |= {"valid_from": "string", "valid_to": "string", "recorded_at": "string", "weight": "double"}


def export_graphml(graph: GraphStore, file: Path, project: str) -> Exported:
    """Write what a project believes now into a new file; the writer lock is held.

    Args:
        graph: The graph store.
        file: Must not exist.
        project: What is written: its memories but turns, its entities and relations.

    Raises:
        InvalidInputError: The file exists.
        StorageError: It cannot be written.
    """
    if file.exists() or file.is_symlink():
        raise InvalidInputError(f"{file}: exists; name a new file")
    partial = file.with_name(f".{file.name}.partial")
    with storage_errors(file, "cannot be written"):
        file.parent.mkdir(parents=True, exist_ok=True)
        with partial.open("w", encoding="utf-8", newline="\n") as out:
            memories, entities, relations = _write(graph, out, project)
        partial.replace(file)
    return Exported(
        path=str(file), format="graphml", memories=memories, entities=entities, relations=relations
    )


def _write(graph: GraphStore, out: TextIO, project: str) -> tuple[int, int, int]:
    out.write('<?xml version="1.0" encoding="UTF-8"?>\n')
    out.write('<graphml xmlns="http://graphml.graphdrawing.org/xmlns">\n')
    for target, keys in (("node", _NODE), ("edge", _EDGE)):
        for name, kind in keys.items():
            key = f'<key id="{target[0]}_{name}" for="{target}" attr.name="{name}" attr.type="{kind}"/>\n'
            out.write(key)
    out.write('<graph edgedefault="directed">\n')
    entities, memories = set[str](), list[str]()
    for row in _rows(graph, ENTITY, project):
        entities.add(row.id)
        out.write(_node(row.id, _entity(row)))
    for row in _rows(graph, CHUNK, project):
        if row.state == "active" and row.kind in _KINDS:
            memories.append(row.id)
            out.write(_node(row.id, _memory(row)))
    relations = set[str]()
    for row in _rows(graph, RELATES, project):
        ends = row.subject in entities and row.object in entities
        if row.state == "active" and ends and row.id not in relations:
            relations.add(row.id)
            out.write(_edge(row.subject, row.object, _relation(row), id=row.id))
    known = set(memories)
    for start in range(0, len(memories), _BATCH):
        out.writelines(_edges_of(graph, memories[start : start + _BATCH], entities, known))
    out.write("</graph>\n</graphml>\n")
    return len(memories), len(entities), len(relations)


def _edges_of(graph: GraphStore, ids: Sequence[str], entities: Set[str], memories: Set[str]) -> Iterator[str]:
    """Yield what some memories mention, and the links that begin at them."""
    for mention in graph.mentions(ids):
        if mention.entity in entities:
            yield _edge(mention.chunk, mention.entity, {"type": "mentions", "weight": float(mention.count)})
    own = set(ids)
    for link in graph.links(ids):
        if link.state == "active" and link.source in own and link.target in memories:
            fields = {"type": link.type, "weight": link.weight, "recorded_at": link.times.recorded_at}
            yield _edge(link.source, link.target, fields, id=link.id)


def _rows(graph: GraphStore, table: Table, project: str) -> Iterator[Any]:
    for batch in graph.scan(table, _BATCH):
        yield from (row for row in batch if row.project == project)


def _entity(row: Entity) -> dict[str, object]:
    return {
        "what": "entity",
        "name": row.name,
        "type": row.type,
        "text": row.description,
        "recorded_at": row.first_seen,
        "mentions": row.mention_count,
    }


def _memory(row: Chunk) -> dict[str, object]:
    return {
        "what": "memory",
        "name": row.text[:80],
        "type": row.kind,
        "text": row.text,
        "scope": row.scope,
        "layer": row.layer,
        "importance": row.importance,
        "happened_at": row.happened_at,
        "recorded_at": row.times.recorded_at,
    }


def _relation(row: Relation) -> dict[str, object]:
    return {
        "type": row.type,
        "confidence": row.confidence,
        "layer": row.layer,
        "verdict": row.verdict,
        "valid_from": row.times.valid_from,
        "valid_to": row.times.valid_to,
        "recorded_at": row.times.recorded_at,
        "weight": row.weight,
    }


def _node(id: str, fields: Mapping[str, object]) -> str:
    return f"<node id={quoteattr(id)}>{_data(fields, 'n')}</node>\n"


def _edge(source: str, target: str, fields: Mapping[str, object], *, id: str | None = None) -> str:
    named = "" if id is None else f" id={quoteattr(id)}"
    ends = f"source={quoteattr(source)} target={quoteattr(target)}"
    return f"<edge{named} {ends}>{_data(fields, 'e')}</edge>\n"


def _data(fields: Mapping[str, object], prefix: str) -> str:
    return "".join(
        f'<data key="{prefix}_{name}">{_text(value)}</data>'
        for name, value in fields.items()
        if value is not None
    )


def _text(value: object) -> str:
    shown = value.isoformat() if isinstance(value, datetime) else str(value)
    return escape(_UNFIT.sub("\ufffd", shown))
