"""Reads a vault that `export_memories` wrote, also after Obsidian or a person has edited it."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, cast

from hydramem.core.inputs import MemoryInput
from hydramem.core.results.exchange_results import SkippedRecord
from hydramem.core.row_types import ChunkKind
from hydramem.ingest.documents.formats.decode import clean
from hydramem.ingest.imports.json_values import plain_name, plain_names, plain_text
from hydramem.ingest.imports.records import (
    EntityRecord,
    MemoryRecord,
    Meter,
    OmittedRecord,
    Record,
    RelationRecord,
)
from hydramem.ingest.imports.vault_files import MOST_NOTE, target_of
from hydramem.storage.exchange.vault_notes import ENTITIES, MANIFEST, MEMORIES, RELATION, RELATIONS
from hydramem.text.dates.transcript_times import parse_loose

_MOST_ENTITIES = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class _Note:
    """A note: its file's name without ending, its fields, and its words."""

    place: str
    name: str
    fields: Mapping[str, Any]
    text: str


def is_hydramem_vault(path: Path) -> bool:
    """Say whether a folder is a vault that HydraMem wrote."""
    return (path / MANIFEST).is_file()


def read_hydramem_vault(path: Path, *, scope: str, meter: Meter) -> Iterator[Record]:
    """Yield the entities, memories and relations of a vault; each memory keeps its own scope.

    Raises:
        OSError: The folder cannot be read.
    """
    del scope
    folders = {
        name: [] if (path / name).is_symlink() else sorted((path / name).glob("*.md"))
        for name in (ENTITIES, MEMORIES)
    }
    meter.total = sum(map(len, folders.values()))
    pages: list[_Note] = []
    for note in _notes(folders[ENTITIES], ENTITIES, meter):
        if isinstance(note, _Note):
            pages.append(note)
        else:
            yield note
    names = {page.name.casefold(): plain_name(page.fields.get("name")) or page.name for page in pages}
    for page in pages:
        yield _entity(page, names[page.name.casefold()])
    for note in _notes(folders[MEMORIES], MEMORIES, meter):
        yield _memory(note, names) if isinstance(note, _Note) else note
    for page in pages:
        yield from _relations(page, names)


def _notes(files: list[Path], kind: str, meter: Meter) -> Iterator[_Note | SkippedRecord | OmittedRecord]:
    for file in files:
        meter.done += 1
        place = f"{kind}/{clean(file.name)}"
        if file.is_symlink() or not file.is_file() or file.stat().st_size > MOST_NOTE:
            yield SkippedRecord(place=place, reason="is no file, or too large")
            continue
        text = file.read_bytes().decode("utf-8", "replace")
        if text.startswith("---\r\n"):  # an editor has written it anew
            text = text.replace("\r\n", "\n")
        head, mark, body = text.removeprefix("---\n").partition("\n---\n")
        fields = _fields(head) if text.startswith("---\n") and mark else None
        if fields is None:
            yield SkippedRecord(place=place, reason="has no front matter")
        else:
            yield _Note(place=place, name=clean(file.stem), fields=fields, text=body)


def _fields(head: str) -> Mapping[str, Any] | None:
    """Read front matter: JSON values as they were written, else YAML as an editor writes it."""
    try:
        pairs = (line.partition(": ") for line in head.split("\n"))
        return {key: json.loads(value) for key, _, value in pairs}
    except (ValueError, RecursionError):
        pass
    import yaml

    try:
        loaded = yaml.safe_load(head)
    except (yaml.YAMLError, ValueError, RecursionError):
        return None
    return loaded if isinstance(loaded, dict) else None


def _entity(page: _Note, name: str) -> Record:
    described = page.text.rpartition(RELATIONS)[0] if RELATIONS in page.text else page.text
    aliases = plain_names(page.fields.get("aliases"))
    return EntityRecord(
        place=page.place,
        name=name,
        type=plain_name(page.fields.get("type")) or "thing",
        aliases=tuple(alias for alias in aliases if alias != name),
        description=plain_text(described) or None,
    )


def _memory(note: _Note, names: Mapping[str, str]) -> Record:
    fields = note.fields
    mentions = (target_of(link.strip("[]")) for link in plain_names(fields.get("mentions")))
    metadata = _metadata(fields.get("metadata"))
    memory = MemoryInput(
        # As it was written: the line's end is the file's.
        text=note.text.removesuffix("\n"),
        kind=cast(ChunkKind, plain_name(fields.get("kind")) or "note"),
        source=plain_name(fields.get("source")),
        author=plain_name(fields.get("author")) or None,
        scope=plain_name(fields.get("scope")) or "/",
        categories=plain_names(fields.get("categories")),
        importance=_number(fields.get("importance"), 0.5),
        keywords=plain_names(fields.get("keywords")),
        summary=plain_text(fields.get("summary")) or None,
        entities=tuple(names.get(each.casefold(), each) for each in mentions if each)[:_MOST_ENTITIES],
        confidence=_number(fields.get("confidence"), 1.0),
        event_type=plain_name(fields.get("event_type")) or None,
        happened_at=_time(fields.get("happened_at")),
        valid_from=_time(fields.get("valid_from")),
        valid_to=_time(fields.get("valid_to")),
        expires_at=_time(fields.get("expires_at")),
        private=fields.get("private") is True,
        metadata=metadata,
    )
    return MemoryRecord(place=note.place, memory=memory, id=plain_name(fields.get("id")) or None)


def _relations(page: _Note, names: Mapping[str, str]) -> Iterator[Record]:
    lines = page.text.rpartition(RELATIONS)[2].split("\n") if RELATIONS in page.text else []
    for line in lines:
        if not line.strip():
            continue
        found = RELATION.fullmatch(line.strip())
        if found is None:
            yield SkippedRecord(place=page.place, reason=f"is no relation: {line.strip()[:80]!r}")
            continue
        type, target, details = found.groups()
        stated = {each.partition(" ")[0]: each.partition(" ")[2] for each in (details or "").split(", ")}
        yield RelationRecord(
            place=page.place,
            subject=names[page.name.casefold()],
            type=type,
            object=names.get(target_of(target).casefold(), target_of(target)),
            confidence=_number(stated.get("confidence"), 1.0),
            bidirectional="both" in stated,
            valid_from=_time(stated.get("from")),
            valid_to=_time(stated.get("until")),
        )


def _metadata(value: object) -> dict[str, object] | None:
    try:
        loaded = json.loads(value) if isinstance(value, str) else value
    except (ValueError, RecursionError):
        return None
    return loaded if isinstance(loaded, dict) else None


def _number(value: object, default: float) -> float:
    try:
        return float(value) if isinstance(value, int | float | str) else default
    except ValueError:
        return default


def _time(value: object) -> datetime | None:
    """Return a time; YAML has read one that an editor wrote without quotes."""
    if isinstance(value, datetime):
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)
    return parse_loose(value)
