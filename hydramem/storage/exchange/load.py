"""Load: write the rows of a dump that the store lacks, in batches, after the whole dump was checked.

A row that the store has already is never changed, so loading again, as after a kill, only adds what is
missing.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

from hydramem.core.results.upkeep_results import Loaded
from hydramem.core.row_types import Entity
from hydramem.storage.exchange.dump_check import CheckedDump, check
from hydramem.storage.exchange.json_lines import SortedLookup, rows_of, vectors_of
from hydramem.storage.exchange.manifest import DumpPart, Key
from hydramem.storage.files.durable_files import storage_errors
from hydramem.storage.outbox import Embed, worth_a_vector
from hydramem.storage.repair.doctor import Progress
from hydramem.storage.schema import CHUNK, ENTITY, NodeTable
from hydramem.storage.store import GraphStore
from hydramem.storage.vector_rows import Vector, indexed_text
from hydramem.storage.write import Write
from hydramem.storage.write_validation import batches

_STORED_BATCH = 1000
StoredRows = Callable[[Sequence[Key]], Mapping[Key, Any]]
"""Returns the rows that a store has under some keys, which come after the keys of earlier calls."""


def stored_rows(part: DumpPart, graph: GraphStore, met: Collection[str]) -> StoredRows:
    """Return the look-up of a part's rows in a store.

    Args:
        part, graph: Whose rows, and the store.
        met: Node tables of which the store has a row of the dump: only between such can it have edges.
    """
    if isinstance(part.table, NodeTable):
        return partial(_nodes_by_key, part.table, graph)
    if not {part.table.source, part.table.target} <= set(met):
        return lambda keys: {}
    rows = (row for batch in graph.scan(part.table, _STORED_BATCH) for row in batch)
    return SortedLookup((part.order(row), row) for row in rows).of


def _nodes_by_key(table: NodeTable, graph: GraphStore, keys: Sequence[Key]) -> Mapping[Key, Any]:
    return {(row.id,): row for row in graph.nodes(table, [id for (id,) in keys])}


Commit = Callable[[Write, Mapping[str, Vector]], None]
"""Commits a write, with the vectors of its rows by id."""

# The vector store maintains itself after a write of more than a few hundred rows: fewer writes are better.
_BATCH = 4000

# Engines create many edges at once much faster than few.
_BATCH_EDGES = 50_000

# Texts are embedded between two writes: a kill loses at most these vectors.
_BATCH_EMBEDDED = 128
_MOST_LEFT = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadTarget:
    """The store that a dump is loaded into.

    Attributes:
        commit, one_writer: What writes to it, and its writer lock.
        embed: Makes the vectors that the dump does not bring.
        embedder: Fingerprint of the store's embedder; the dump's vectors serve where theirs is the same.
        dimension: Length of its vectors.
    """

    graph: GraphStore
    commit: Commit
    one_writer: AbstractContextManager[object]
    embed: Embed
    embedder: str
    dimension: int


def load(
    folder: Path, place: LoadTarget, *, key: bytes | None = None, progress: Progress | None = None
) -> Loaded:
    """Write the rows of a dump that the store lacks.

    Args:
        folder, place: The dump, and the store.
        key: Checks the dump's signature; None where it has none.
        progress: Called with rows done and rows to do.

    Raises:
        InvalidInputError: The dump is damaged, changed or not one; nothing is written.
        SchemaError: A newer version wrote it; nothing is written.
        ModelError: The embedder failed; what was loaded stays, and loading again goes on from there.
        StorageError: A store failed; the same.
    """
    with storage_errors(folder, "cannot be read"):
        loading = _Loading(check(folder, key=key), place, progress)
        for part in loading.parts:
            loading.load(part)
    loading.recount()
    return loading.result()


@dataclass(slots=True)
class _Tally:
    """Counts of the rows of a part by outcome."""

    written: int = 0
    unchanged: int = 0
    differing: int = 0


class _Loading:
    """One load, part by part."""

    def __init__(self, checked: CheckedDump, place: LoadTarget, progress: Progress | None) -> None:
        self._checked = checked
        self._place = place
        self._progress = progress
        self._done = 0
        manifest = checked.manifest
        same = (manifest.embedder, manifest.dimension) == (place.embedder, place.dimension)
        self._brings_vectors = manifest.vectors and same
        self._tallies = {part.name: _Tally() for part in manifest.parts}
        self._met: set[str] = set()
        self._left: list[str] = []
        # First and last seen as the dump has them, by which those of the store may have to be extended.
        self._differing_entities: dict[str, tuple[datetime, datetime]] = {}
        self._embedded = 0

    @property
    def parts(self) -> tuple[DumpPart, ...]:
        """The parts of the dump."""
        return self._checked.manifest.parts

    def load(self, part: DumpPart) -> None:
        """Write the rows of a part that the store lacks."""
        rows = (row for _, row in rows_of(part, self._checked.folder))
        embeds = part.table is CHUNK and not self._brings_vectors
        held = stored_rows(part, self._place.graph, self._met)
        brought = self._brought(part)
        size = _BATCH_EMBEDDED if embeds else _BATCH if part.is_node else _BATCH_EDGES
        while batch := list(islice(rows, size)):
            there = held([part.order(row) for row in batch])
            self._compare(part, batch, there)
            missing = [row for row in batch if part.order(row) not in there]
            self._write(part, missing, brought(batch))
            self._report(len(batch))

    def _brought(self, part: DumpPart) -> Callable[[Sequence[Any]], Mapping[str, Vector]]:
        file = self._checked.vectors_file(part) if self._brings_vectors else None
        if file is None:
            return lambda rows: {}
        vectors = SortedLookup((id, vector) for _, id, vector in vectors_of(file, self._place.dimension))
        return lambda rows: vectors.of([row.id for row in rows])

    def _compare(self, part: DumpPart, batch: Sequence[Any], there: Mapping[Key, Any]) -> None:
        tally = self._tallies[part.name]
        if there:
            self._met.add(part.table.name)
        differing = [row for row in batch if there.get(part.order(row), row) != row]
        tally.differing += len(differing)
        tally.unchanged += len(there) - len(differing)
        for row in differing:
            if len(self._left) < _MOST_LEFT:
                self._left.append(f"{part.name}: {' '.join(map(str, part.order(row)))}")
            if part.table is ENTITY:
                self._differing_entities[row.id] = (row.first_seen, row.last_seen)

    def _write(self, part: DumpPart, rows: Sequence[Any], brought: Mapping[str, Vector]) -> None:
        vectors = self._vectors(part, rows, brought)
        with self._place.one_writer:
            # Other writers may have added some meanwhile.
            keys = [part.order(row) for row in rows]
            taken = (
                _nodes_by_key(part.table, self._place.graph, keys)
                if isinstance(part.table, NodeTable)
                else {}
            )
            left = [row for key, row in zip(keys, rows, strict=True) if key not in taken]
            if left:
                self._place.commit(_write_of(part, left), vectors)
        self._tallies[part.name].written += len(left)

    def _vectors(
        self, part: DumpPart, rows: Sequence[Any], brought: Mapping[str, Vector]
    ) -> dict[str, Vector]:
        """Return the vectors of rows: brought by the dump, or made now."""
        texts: dict[str, str] = {}
        if part.table is CHUNK:
            # The vector of a pending chunk is made by its job.
            texts = {row.id: indexed_text(row) for row in rows if row.vector_state == "ready"}
        elif part.table is ENTITY:
            texts = {row.id: row.name for row in rows if worth_a_vector(row.mention_count)}
        given = {row.id: brought[row.id] for row in rows if part.is_node and row.id in brought}
        return {**given, **self._embed({id: text for id, text in texts.items() if id not in given})}

    def _embed(self, texts: Mapping[str, str]) -> dict[str, Vector]:
        self._embedded += len(texts)
        return dict(zip(texts, self._place.embed(list(texts.values())), strict=True)) if texts else {}

    def recount(self) -> None:
        """Recount entities that both store and dump have: they have the mentions of both now."""
        graph, place = self._place.graph, self._place
        for ids in batches(self._differing_entities, _BATCH_EMBEDDED):
            with place.one_writer:
                before = graph.entities(ids)
                after = [self._counted(row, _active_mentions(row.id, graph)) for row in before]
                changed = [row for row, old in zip(after, before, strict=True) if row != old]
                worth = {row.id: row.name for row in changed if worth_a_vector(row.mention_count)}
                if changed:
                    write = Write(changes=(), entities=tuple(changed), verbatim=True)
                    place.commit(write, self._embed(worth))

    def _counted(self, row: Entity, mentions: int) -> Entity:
        first, last = self._differing_entities[row.id]
        return replace(
            row,
            mention_count=mentions,
            first_seen=min(first, row.first_seen),
            last_seen=max(last, row.last_seen),
        )

    def _report(self, rows: int) -> None:
        self._done += rows
        if self._progress is not None:
            self._progress(self._done, self._checked.rows)

    def result(self) -> Loaded:
        """Return what was done."""
        tallies = self._tallies
        return Loaded(
            folder=str(self._checked.folder),
            written={name: tally.written for name, tally in tallies.items()},
            unchanged={name: tally.unchanged for name, tally in tallies.items()},
            differing={name: tally.differing for name, tally in tallies.items()},
            left=tuple(self._left),
            embedded=self._embedded,
            notes=self._notes(),
        )

    def _notes(self) -> tuple[str, ...]:
        manifest = self._checked.manifest
        notes = list[str]()
        if manifest.vectors and not self._brings_vectors:
            notes.append(
                f"the dump's vectors are of {manifest.embedder}, the store's of {self._place.embedder}: "
                "they were made anew"
            )
        if any(tally.differing for tally in self._tallies.values()):
            notes.append("rows that were there and differ were left as they are; `left` names some")
        return tuple(notes)


def _write_of(part: DumpPart, rows: Sequence[Any]) -> Write:
    # A part has the name of the field of `Write` that its rows go to.
    written: dict[str, Any] = {part.name: tuple(rows)}
    return replace(Write(changes=(), verbatim=True), **written)


def _active_mentions(entity: str, graph: GraphStore) -> int:
    chunks = [mention.chunk for mention in graph.mentioned([entity])]
    return sum(row.state == "active" for row in graph.chunks(chunks))
