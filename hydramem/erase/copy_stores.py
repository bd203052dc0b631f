"""Copy a graph and its vectors into empty stores, without what is erased.

Deleting rows leaves their bytes in an engine's file, and in the files, old versions and indices of LanceDB. A
copy has never held them.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from hydramem.core.config import StorageConfig
from hydramem.core.row_types import Change
from hydramem.erase.erasure import Erasure
from hydramem.erase.rows_after import row_after
from hydramem.storage.cypher.graph import CypherGraph, open_graph
from hydramem.storage.exchange.manifest import PARTS, DumpPart
from hydramem.storage.outbox import worth_a_vector
from hydramem.storage.schema import CHUNK, ENTITY
from hydramem.storage.store import GraphStore
from hydramem.storage.vector_rows import ChunkVector, EntityVector, VectorStore
from hydramem.storage.write import Write
from hydramem.storage.write_validation import batches

_BATCH = 4000

# Engines create many edges at once much faster than few.
_BATCH_EDGES = 50_000
_VECTORS = 2000
Step = Callable[[int], None]
"""Is told how many rows were copied."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RowCounts:
    """Rows that were left out of a copy, and rows that were changed in it, by table.

    Attributes:
        runs: The runs of changes among them: undo says that a part of them was erased.
    """

    removed: Mapping[str, int]
    changed: Mapping[str, int]
    runs: tuple[str, ...]

    def __bool__(self) -> bool:
        return bool(self.removed or self.changed)


class _RowCounter:
    """Counts what becomes of rows."""

    def __init__(self) -> None:
        self._removed, self._changed = Counter[str](), Counter[str]()
        self._runs: dict[str, None] = {}

    def add(self, part: DumpPart, row: Any, after: Any | None) -> None:
        """Count a row that goes, changes or stays."""
        if after == row:
            return
        (self._removed if after is None else self._changed)[part.name] += 1
        if isinstance(row, Change) and row.run is not None:
            self._runs[row.run] = None

    @property
    def counts(self) -> RowCounts:
        """What was counted."""
        return RowCounts(removed=dict(self._removed), changed=dict(self._changed), runs=tuple(self._runs))


def count_rows(graph: GraphStore, erasure: Erasure) -> RowCounts:
    """Return what a copy would leave out and change."""
    tally = _RowCounter()
    for part in PARTS:
        for _ in _rows_after(part, graph, erasure, tally):
            pass
    return tally.counts


def open_empty_graph(folder: Path, settings: StorageConfig) -> CypherGraph:
    """Create the graph that rows are copied into, by a process that has never held what is erased.

    Raises:
        StorageError: It cannot be created.
    """
    return open_graph(folder, settings, created_apart=True)


def copy_graph(
    source: GraphStore, copy: GraphStore, erasure: Erasure, *, step: Step = lambda rows: None
) -> RowCounts:
    """Copy every row that stays into an empty graph, with the store's own facts and what its vectors await.

    Raises:
        StorageError: A row cannot be read or written.
    """
    tally = _RowCounter()
    for part in PARTS:
        rows = _rows_after(part, source, erasure, tally)
        for some in batches(rows, _BATCH if part.is_node else _BATCH_EDGES):
            copy.write(_verbatim(part.name, tuple(some)))
            step(len(some))
    copy.set_meta({name: value for name, value in source.meta().items() if name != "schema_version"})
    # The vectors are copied too, but for those that the source still had to replicate.
    copy.clear_outbox([row.id for row in copy.outbox()])
    waiting = source.outbox()
    chunks = copy.chunks([id for row in waiting for id in row.chunks])
    entities = copy.entities([id for row in waiting for id in row.entities])
    if chunks or entities:
        copy.write(replace(_verbatim("chunks", chunks), entities=entities))
    return tally.counts


def _rows_after(part: DumpPart, graph: GraphStore, erasure: Erasure, tally: _RowCounter) -> Iterator[Any]:
    for rows in graph.scan(part.table, _BATCH):
        for row in rows:
            after = row_after(row, erasure)
            tally.add(part, row, after)
            if after is not None:
                yield after


def _verbatim(part: str, rows: tuple[Any, ...]) -> Write:
    # A part has the name of the field of `Write` that its rows go to.
    written: dict[str, Any] = {part: rows}
    return replace(Write(changes=(), verbatim=True), **written)


def copy_vectors(
    source: VectorStore, copy: VectorStore, graph: GraphStore, *, step: Step = lambda rows: None
) -> None:
    """Copy the vectors of the rows that a graph has into an empty vector store.

    Raises:
        StorageError: A store cannot be read or written.
    """
    held = set(source.chunk_hashes())
    for rows in graph.scan(CHUNK, _VECTORS):
        chunks = [row for row in rows if row.id in held]
        vectors = source.vectors([row.id for row in chunks])
        copy.put([ChunkVector(chunk=row, vector=vectors.get(row.id)) for row in chunks])
        step(len(rows))
    for rows in graph.scan(ENTITY, _VECTORS):
        worth = [row for row in rows if worth_a_vector(row.mention_count)]
        vectors = source.entity_vectors([row.id for row in worth])
        copy.put(
            entities=[EntityVector(entity=row, vector=vectors[row.id]) for row in worth if row.id in vectors]
        )
        step(len(rows))
    copy.maintain(force=True)
