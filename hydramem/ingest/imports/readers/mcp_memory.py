"""Reads the file of the MCP reference memory server: JSON lines of entities and relations.

An entity is a line with `name`, `entityType` and `observations`; a relation one with `from`, `to` and
`relationType`. Names are the keys; there are no ids and no times.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from hydramem.core.inputs import MemoryInput
from hydramem.core.results.exchange_results import SkippedRecord
from hydramem.ingest.imports.json_values import plain_name, plain_text, read_lines
from hydramem.ingest.imports.records import EntityRecord, MemoryRecord, Meter, Record, RelationRecord


def read_mcp_memory(path: Path, *, scope: str, meter: Meter) -> Iterator[Record]:
    """Yield the entities, their observations as facts, and the relations of a file, in its order."""
    for place, value in read_lines(path, meter):
        if isinstance(value, SkippedRecord):
            yield value
        elif value.get("type") == "entity":
            yield from _entity(value, place, source=f"import:mcp-memory:{path.name}"[:200], scope=scope)
        elif value.get("type") == "relation":
            yield _relation(value, place)
        else:
            yield SkippedRecord(place=place, reason="is neither an entity nor a relation")


def _entity(value: Mapping[str, Any], place: str, *, source: str, scope: str) -> Iterator[Record]:
    name, kind = plain_name(value.get("name")), plain_name(value.get("entityType")) or "thing"
    if not name:
        yield SkippedRecord(place=place, reason="entity without a name")
        return
    yield EntityRecord(place=place, name=name, type=kind)
    observations = value.get("observations", [])
    if not isinstance(observations, list):
        yield SkippedRecord(place=place, reason="observations: expected a list")
        return
    for number, each in enumerate(observations, 1):
        if not (text := plain_text(each)):
            yield SkippedRecord(place=f"{place}, observation {number}", reason="expected text")
            continue
        # An observation says of what it is only by where it stands, and is recalled alone.
        memory = MemoryInput(
            text=text if name.casefold() in text.casefold() else f"{name}: {text}",
            kind="fact",
            source=source,
            scope=scope,
            categories=(),
            entities=(name,),
        )
        yield MemoryRecord(place=f"{place}, observation {number}", memory=memory)


def _relation(value: Mapping[str, Any], place: str) -> Record:
    subject, type, object = (plain_name(value.get(key)) for key in ("from", "relationType", "to"))
    if not (subject and type and object):
        return SkippedRecord(place=place, reason="relation without from, relationType or to")
    return RelationRecord(place=place, subject=subject, type=type, object=object)
