"""Dump: the whole graph as sorted JSON lines in a new folder, which appears only when it is complete.

Two dumps of the same memory have the same bytes, with either engine.
"""

import hashlib
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, BinaryIO, Self

from hydramem.core.errors import NotFoundError
from hydramem.core.results.upkeep_results import Dumped
from hydramem.core.row_types import Job
from hydramem.storage.exchange.json_lines import to_line, vector_line
from hydramem.storage.exchange.manifest import (
    MANIFEST,
    PARTS,
    VECTORS,
    DumpManifest,
    DumpPart,
    FileEntry,
    signed,
    text,
)
from hydramem.storage.exchange.new_folder import new_folder
from hydramem.storage.outbox import Mirror
from hydramem.storage.repair.doctor import Progress
from hydramem.storage.schema import CHUNK
from hydramem.storage.store import GraphStore
from hydramem.storage.vector_rows import Vector, VectorStore

_BATCH = 2000


@dataclass(frozen=True, slots=True, kw_only=True)
class DumpRequest:
    """What a dump contains.

    Attributes:
        projects: Only these; all where none is named.
        vectors: The vectors to write as well; None writes none.
        embedder: Fingerprint of the store's embedder.
        dimension: Length of its vectors.
        created_by: Program and version, for the manifest.
        key: Signs the manifest; None leaves it unsigned.
    """

    projects: tuple[str, ...] = ()
    vectors: VectorStore | None = None
    embedder: str
    dimension: int
    created_by: str
    key: bytes | None = None


def dump(
    graph: GraphStore, folder: Path, request: DumpRequest, *, mirror: Mirror, progress: Progress | None = None
) -> Dumped:
    """Write everything into a new folder, which appears when it is complete.

    Writers wait until the rows are written, so that the files show one moment; reads go on.

    Args:
        graph: The authoritative store.
        folder: Where to; it must be empty, or not there.
        request, mirror: What to write, and what holds the writers.
        progress: Called with rows written and rows to write.

    Raises:
        InvalidInputError: The folder holds something.
        NotFoundError: A project that was named holds nothing.
        StorageError: A store cannot be read, or the folder cannot be written; nothing is left there.
    """
    with new_folder(folder) as partial:
        with mirror.one_writer:
            if request.vectors is not None:
                mirror.drain()  # else rows that are not replicated would have old vectors
            _check_projects(graph, request.projects)
            writing = _Writing(partial, graph, request, progress)
            files = tuple(entry for part in PARTS for entry in writing.part(part))
        manifest = DumpManifest(
            created_by=request.created_by,
            embedder=request.embedder,
            dimension=request.dimension,
            vectors=request.vectors is not None,
            projects=tuple(sorted(writing.projects)),
            files=files,
        )
        if request.key is not None:
            manifest = signed(manifest, request.key)
        _write_file(partial / MANIFEST, text(manifest))
    return Dumped(
        folder=str(folder),
        rows={entry.name.removesuffix(".jsonl"): entry.rows for entry in files},
        bytes=sum(entry.bytes for entry in files),
        projects=manifest.projects,
        vectors=manifest.vectors,
        signed=manifest.signature is not None,
    )


def _check_projects(graph: GraphStore, names: Sequence[str]) -> None:
    if names and (unknown := set(names) - {view.name for view in graph.projects()}):
        raise NotFoundError(f"{min(unknown)!r}: no project of this name holds anything")


def _write_file(file: Path, data: bytes) -> None:
    with file.open("xb") as out:
        out.write(data)
        out.flush()
        os.fsync(out.fileno())


class _LineFile:
    """A file of lines being written, with its hash."""

    def __init__(self, file: Path) -> None:
        self._name = file.name
        self._out: BinaryIO = file.open("xb")
        self._digest = hashlib.sha256()
        self._rows = self._bytes = 0

    def write(self, lines: Sequence[bytes]) -> None:
        """Append lines."""
        data = b"".join(lines)
        self._out.write(data)
        self._digest.update(data)
        self._rows += len(lines)
        self._bytes += len(data)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._out.close()

    def finish(self) -> FileEntry:
        """Sync the file, and return its entry of the manifest."""
        self._out.flush()
        os.fsync(self._out.fileno())
        return FileEntry(name=self._name, rows=self._rows, bytes=self._bytes, sha256=self._digest.hexdigest())


class _Writing:
    """The files of one dump, written part by part."""

    def __init__(
        self, folder: Path, graph: GraphStore, request: DumpRequest, progress: Progress | None
    ) -> None:
        self._folder = folder
        self._graph = graph
        self._request = request
        self._progress = progress
        self._done = 0
        self._total = _estimate(graph)
        # Ids of the dumped nodes, only where some are left out: rows that refer to those are left out too.
        self._kept: dict[str, set[str]] = {}
        self.projects: set[str] = set()

    def part(self, part: DumpPart) -> Iterator[FileEntry]:
        """Write the rows of a part, and their vectors; yield the entry of each file."""
        vectors = self._vectors(part)
        with ExitStack() as files:
            lines = files.enter_context(_LineFile(self._folder / part.file))
            vector_lines = None
            if vectors is not None:
                name = f"{VECTORS[part.table.name]}.jsonl"
                vector_lines = files.enter_context(_LineFile(self._folder / name))
            for rows in self._batches(part):
                lines.write([to_line(part.table, _dumped_row(row)) for row in rows])
                if vector_lines is not None and vectors is not None:
                    found = vectors([row.id for row in rows])
                    vector_lines.write(
                        [vector_line(row.id, found[row.id]) for row in rows if row.id in found]
                    )
            yield lines.finish()
            if vector_lines is not None:
                yield vector_lines.finish()

    def _batches(self, part: DumpPart) -> Iterator[list[Any]]:
        """Yield the rows that are wanted, in order, each once."""
        for batch in self._graph.scan(part.table, _BATCH):
            wanted = {part.order(row): row for row in batch if self._wanted(part, row)}
            rows = [wanted[key] for key in sorted(wanted)]
            self.projects.update(row.project for row in rows if hasattr(row, "project"))
            yield rows
            self._report(len(batch))

    def _wanted(self, part: DumpPart, row: Any) -> bool:
        chosen = self._request.projects
        if not chosen:
            return True
        if getattr(row, "project", chosen[0]) not in chosen:
            return False
        if any(id not in self._kept.get(table, ()) for _, table, id in part.referred(row)):
            return False
        if part.is_node:
            self._kept.setdefault(part.table.name, set()).add(row.id)
        return True

    def _vectors(self, part: DumpPart) -> Callable[[Sequence[str]], Mapping[str, Vector]] | None:
        store = self._request.vectors
        if store is None or part.table.name not in VECTORS:
            return None
        return store.vectors if part.table is CHUNK else store.entity_vectors

    def _report(self, rows: int) -> None:
        self._done += rows
        if self._progress is not None:
            self._progress(self._done, max(self._done, self._total))


def _dumped_row(row: Any) -> Any:
    """Return a row as it is dumped: a running job is dumped as waiting."""
    return replace(row, state="waiting") if isinstance(row, Job) and row.state == "running" else row


def _estimate(graph: GraphStore) -> int:
    """Return about how many rows there are: counts leave out rows that are not active."""
    counts = graph.counts()
    nodes = counts.documents + counts.chunks + counts.entities + counts.sessions + counts.changes
    return nodes + counts.relations + counts.mentions + counts.links
