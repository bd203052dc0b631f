"""Writes a project as a Markdown vault: a note for each memory and each entity, joined by wiki links.

A vault that was written before is brought up to date: notes whose content is as it was written are replaced
or removed, and those that a person edited stay.
"""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hydramem.core.errors import InvalidInputError
from hydramem.core.ids import content_hash
from hydramem.core.results.exchange_results import Exported
from hydramem.core.row_types import Chunk, Relation
from hydramem.storage.exchange.vault_notes import (
    ENTITIES,
    FORMAT,
    MANIFEST,
    MEMORIES,
    VERSION,
    entity_files,
    entity_note,
    memory_file,
    memory_note,
)
from hydramem.storage.files.durable_files import storage_errors
from hydramem.storage.schema import CHUNK, ENTITY, RELATES, Table
from hydramem.storage.store import GraphStore

_BATCH = 1000
_MOST_MANIFEST = 2**30
_KINDS = ("note", "fact", "event")
Progress = Callable[[int, int], None]


def export_vault(
    graph: GraphStore, folder: Path, project: str, *, progress: Progress | None = None
) -> Exported:
    """Write what a project believes now into a folder; the writer lock is held.

    Args:
        graph: The graph store.
        folder: Empty, not there, or a vault that was written before.
        project: What is written: its memories but turns, its entities and relations.
        progress: Called with the notes written and about how many there are.

    Raises:
        InvalidInputError: The folder holds something else.
        StorageError: It cannot be written.
    """
    with storage_errors(folder, "cannot be written"):
        writing = _Vault(folder, _manifest(folder), progress)
        entities = list(_rows(graph, ENTITY, project))
        writing.total = graph.counts(project).memories + len(entities)
        files = entity_files(entities)
        relations = _relations(graph, project)
        for row in entities:
            note = entity_note(row, relations.get(row.id, ()), files)
            writing.write(f"{ENTITIES}/{files[row.id]}.md", note)
        memories = 0
        for batch in _memories(graph, project):
            mentioned: dict[str, list[str]] = {}
            for mention in graph.mentions([row.id for row in batch]):
                mentioned.setdefault(mention.chunk, []).append(mention.entity)
            for row in batch:
                ends = sorted(mentioned.get(row.id, ()), key=lambda id: files.get(id, ""))
                writing.write(f"{MEMORIES}/{memory_file(row)}.md", memory_note(row, ends, files))
            memories += len(batch)
        removed = writing.finish(project)
    return Exported(
        path=str(folder),
        format="markdown",
        memories=memories,
        entities=len(entities),
        relations=sum(map(len, relations.values())),
        removed=removed,
        kept=tuple(sorted(writing.kept)),
    )


def _rows(graph: GraphStore, table: Table, project: str) -> Iterator[Any]:
    for batch in graph.scan(table, _BATCH):
        yield from (row for row in batch if row.project == project)


def _relations(graph: GraphStore, project: str) -> dict[str, tuple[Relation, ...]]:
    """Return the relations that are believed, each once, by their subject."""
    found: dict[str, dict[str, Relation]] = {}
    for row in _rows(graph, RELATES, project):
        if row.state == "active":
            found.setdefault(row.subject, {})[row.id] = row
    return {subject: tuple(rows.values()) for subject, rows in found.items()}


def _memories(graph: GraphStore, project: str) -> Iterator[list[Chunk]]:
    for batch in graph.scan(CHUNK, _BATCH):
        yield [
            row for row in batch if row.project == project and row.state == "active" and row.kind in _KINDS
        ]


def _manifest(folder: Path) -> dict[str, str]:
    """Return the hash of each note that was written before; empty for a new vault."""
    if not folder.exists() or (folder.is_dir() and not any(folder.iterdir())):
        return {}
    manifest = folder / MANIFEST
    refused = InvalidInputError(f"{folder}: holds something that is no vault of ours; name a new folder")
    if not manifest.is_file() or manifest.stat().st_size > _MOST_MANIFEST:
        raise refused
    if any((folder / part).is_symlink() for part in (MEMORIES, ENTITIES, MANIFEST)):
        raise refused
    try:
        stored = json.loads(manifest.read_bytes())
        if (stored["format"], stored["version"]) != (FORMAT, VERSION):
            raise refused
        return {path: str(value) for path, value in stored["files"].items()}
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise refused from error


@dataclass(slots=True)
class _Vault:
    """A vault that is being written.

    Attributes:
        before: Hashes of the notes that were written before, by path.
        total: About how many notes there are.
        kept: Notes that a person edited.
    """

    folder: Path
    before: dict[str, str]
    progress: Progress | None
    total: int = 0
    kept: list[str] = field(default_factory=list)
    _written: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for part in (MEMORIES, ENTITIES):
            (self.folder / part).mkdir(parents=True, exist_ok=True)

    def write(self, name: str, note: str) -> None:
        """Write a note, unless a person has edited it."""
        path, data = self.folder / name, note.encode("utf-8", "replace")
        hashed = content_hash(data)
        is_there = path.is_symlink() or path.exists()
        if is_there and not self._is_ours(name, path, hashed):
            self.kept.append(name)
        else:
            self._written[name] = hashed
            if not is_there or self.before.get(name) != hashed:
                self._replace(path, data)
        if self.progress is not None and not len(self._written) % _BATCH:
            self.progress(len(self._written), max(self.total, len(self._written)))

    def finish(self, project: str) -> int:
        """Remove notes of what is gone, and write the manifest; return how many were removed."""
        removed = 0
        for name in self.before.keys() - self._written.keys() - set(self.kept):
            path = self.folder / name
            inside = name.partition("/")[0] in (MEMORIES, ENTITIES) and name.count("/") == 1
            if not inside or not path.is_file():
                continue
            if self._is_ours(name, path, ""):
                path.unlink()
                removed += 1
            else:
                self.kept.append(name)
        content = {"format": FORMAT, "version": VERSION, "project": project, "files": self._written}
        self._replace(
            self.folder / MANIFEST, json.dumps(content, ensure_ascii=False, sort_keys=True).encode()
        )
        return removed

    def _is_ours(self, name: str, path: Path, wanted: str) -> bool:
        if path.is_symlink() or not path.is_file():
            return False
        return content_hash(path.read_bytes()) in (self.before.get(name), wanted)

    def _replace(self, path: Path, data: bytes) -> None:
        """Write a file whole: a kill leaves the one before."""
        partial = self.folder / ".hydramem-partial"
        partial.write_bytes(data)
        partial.replace(path)
