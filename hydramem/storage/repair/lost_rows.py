"""Rows that only the vector store holds: the graph, which has every row first, has lost them.

They are written to a file that people and programs can read, and stay in the vectors until someone asks for
their removal.
"""

import json
from collections.abc import Mapping, Sequence, Set
from dataclasses import asdict, dataclass
from datetime import datetime
from operator import attrgetter
from pathlib import Path

from hydramem.core.ids import content_hash
from hydramem.storage.files.durable_files import storage_errors, write_whole
from hydramem.storage.schema import CHUNK
from hydramem.storage.store import GraphStore
from hydramem.storage.vector_rows import StoredChunk, StoredEntity, VectorStore

FOLDER_OF_LOST = "lost"
"""The folder in a store that holds the files of lost rows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LostRows:
    """Rows of the vector store that the graph lacks."""

    chunks: tuple[StoredChunk, ...] = ()
    entities: tuple[StoredEntity, ...] = ()

    def __len__(self) -> int:
        return len(self.chunks) + len(self.entities)

    def newer_than(self, moment: datetime | None) -> int:
        """Count the chunks that were recorded or withdrawn after a moment; all of them where it is None."""
        return sum(moment is None or _last_written(row) > moment for row in self.chunks)


def _last_written(row: StoredChunk) -> datetime:
    return max(row.recorded_at, row.retired_at or row.recorded_at)


def lost_rows(
    graph: GraphStore, vectors: VectorStore, *, chunks: Sequence[str], entities: Sequence[str] = ()
) -> LostRows:
    """Return what the vector store holds of rows that the graph lacks.

    Args:
        graph, vectors: The two stores.
        chunks, entities: Ids of rows that the vector store holds; those that the graph has are left out.
    """
    kept = {row.id for row in graph.chunks(chunks)} | {row.id for row in graph.entities(entities)}
    return LostRows(
        chunks=tuple(sorted(_chunks(vectors, chunks, kept), key=attrgetter("id"))),
        entities=tuple(sorted(_entities(vectors, entities, kept), key=attrgetter("id"))),
    )


def _chunks(vectors: VectorStore, ids: Sequence[str], kept: Set[str]) -> tuple[StoredChunk, ...]:
    return vectors.stored_chunks([id for id in ids if id not in kept])


def _entities(vectors: VectorStore, ids: Sequence[str], kept: Set[str]) -> tuple[StoredEntity, ...]:
    return vectors.stored_entities([id for id in ids if id not in kept])


def chunks_lost_after_last_change(graph: GraphStore, vectors: VectorStore) -> int:
    """Count the chunks that only the vectors hold and that are newer than all that the graph holds.

    A graph whose log was deleted or emptied is older than its vectors. Where nothing is lost, two counts are
    read and no more.
    """
    if vectors.stats().chunks <= graph.count_chunks():
        return 0
    known = {row.id for batch in graph.scan(CHUNK) for row in batch}
    only = [id for id in vectors.chunk_hashes() if id not in known]
    return lost_rows(graph, vectors, chunks=only).newer_than(graph.last_change_at())


def export_lost(store: Path, lost: LostRows) -> Path:
    """Write lost rows beside the store's files as JSON lines; the same rows are written once.

    A line has `table` (chunks or entities) and the columns that the vectors hold. The text of a chunk is as
    full text reads it: under its headings, after its speaker and the day it happened.

    Raises:
        StorageError: The file cannot be written.
    """
    lines = [
        *(json.dumps({"table": "chunks", **_plain(asdict(row))}, ensure_ascii=False) for row in lost.chunks),
        *(json.dumps({"table": "entities", **asdict(row)}, ensure_ascii=False) for row in lost.entities),
    ]
    text = "".join(f"{line}\n" for line in lines)
    file = store / FOLDER_OF_LOST / f"lost-{content_hash(text)[:12]}.jsonl"
    with storage_errors(file, "cannot be written"):
        file.parent.mkdir(exist_ok=True)
        if not file.exists():
            write_whole(file, text)
    return file


def _plain(values: Mapping[str, object]) -> dict[str, object]:
    held = {name: value for name, value in values.items() if name != "mirror" and value is not None}
    return {name: value.isoformat() if isinstance(value, datetime) else value for name, value in held.items()}
