"""Reads memories of mem0: the JSON of its `get_all`, with `results` and, of a graph, `relations`."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from hydramem.core.inputs import MemoryInput
from hydramem.core.results.exchange_results import SkippedRecord
from hydramem.ingest.imports.checked_records import scope_under
from hydramem.ingest.imports.json_values import plain_name, plain_text, read_whole
from hydramem.ingest.imports.records import MemoryRecord, Meter, Record, RelationRecord
from hydramem.text.dates.transcript_times import parse_loose

_OWNERS = ("user_id", "agent_id", "run_id")
_KEPT = ("id", "hash", "updated_at", "attributed_to", "metadata", "categories")
_DEFAULT_PAGE = 20
_CUT = "the file holds 20 memories, as many as mem0 returns where `top_k` is not raised: it may be cut off"


def read_mem0(path: Path, *, scope: str, meter: Meter) -> Iterator[Record]:
    """Yield the memories as facts, each in the scope of its user, agent and run, and the relations.

    Raises:
        OSError: The path cannot be read.
    """
    try:
        value = read_whole(path, meter)
    except ValueError as error:
        yield SkippedRecord(place=path.name, reason=f"cannot be read: {error}")
        return
    results = value.get("results") if isinstance(value, dict) else value
    if not isinstance(results, list):
        yield SkippedRecord(place=path.name, reason="results: expected a list")
        return
    if len(results) == _DEFAULT_PAGE:
        meter.notes.append(_CUT)
    source = f"import:mem0:{path.name}"[:200]
    for number, each in enumerate(results, 1):
        yield _memory(each, f"{path.name}, record {number}", source=source, scope=scope)
    relations = value.get("relations") if isinstance(value, dict) else None
    for number, each in enumerate(relations if isinstance(relations, list) else (), 1):
        yield _relation(each, f"{path.name}, relation {number}")


def _memory(value: object, place: str, *, source: str, scope: str) -> Record:
    if not isinstance(value, dict):
        return SkippedRecord(place=place, reason="expected an object")
    if not (text := plain_text(value.get("memory"))):
        return SkippedRecord(place=place, reason="memory: expected text")
    memory = MemoryInput(
        text=text,
        kind="fact",
        source=source,
        author=plain_name(value.get("actor_id") or value.get("role"))[:200] or None,
        scope=scope_under(scope, *(plain_name(value.get(key)) for key in _OWNERS)),
        categories=(),
        happened_at=parse_loose(value.get("created_at")),
        expires_at=parse_loose(value.get("expiration_date")),
        metadata={"mem0": {key: value[key] for key in _KEPT if value.get(key) not in (None, "", {}, [])}},
    )
    return MemoryRecord(place=place, memory=memory)


def _relation(value: object, place: str) -> Record:
    given: Mapping[str, Any] = value if isinstance(value, dict) else {}
    subject, object = (
        plain_name(given.get("source")),
        plain_name(given.get("target") or given.get("destination")),
    )
    type = plain_name(given.get("relationship") or given.get("relation"))
    if not (subject and type and object):
        return SkippedRecord(place=place, reason="relation without source, relationship or target")
    return RelationRecord(place=place, subject=subject, type=type, object=object)
