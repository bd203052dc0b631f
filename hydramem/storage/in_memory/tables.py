"""The rows of the graph store in memory, by table and key, and how one write changes them."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from hydramem.core.errors import InvalidInputError
from hydramem.core.row_types import Change, Chunk, Document, Entity, Job, Recalled, Relation, Session
from hydramem.storage.row_codec import encode, normalise
from hydramem.storage.schema import (
    CHANGE,
    CHUNK,
    DOCUMENT,
    ENTITY,
    JOB,
    KEYED_TABLES,
    LINKS,
    MENTIONS,
    NODE_TABLES,
    OUTBOX,
    RECALLED,
    RELATES,
    REQUEST,
    SESSION,
    Table,
)
from hydramem.storage.undo.row_images import TABLES
from hydramem.storage.undo.write_images import WriteImages
from hydramem.storage.write import OutboxRow, RequestRow
from hydramem.storage.write_validation import PlannedWrite, check_references

EdgeKey = tuple[str, ...]


class EdgeIndex:
    """Edges by key, whose first two parts are the ends, with an index of each end."""

    def __init__(self) -> None:
        self.rows: dict[EdgeKey, Any] = {}
        self._at: tuple[dict[str, set[EdgeKey]], dict[str, set[EdgeKey]]] = ({}, {})

    def put(self, rows: Mapping[EdgeKey, Any]) -> None:
        """Insert edges, or replace those of the same key."""
        self.rows.update(rows)
        for key in rows:
            for end in (0, 1):
                self._at[end].setdefault(key[end], set()).add(key)

    def remove(self, keys: Iterable[EdgeKey]) -> None:
        """Delete edges by key; unknown keys are ignored."""
        for key in keys:
            if self.rows.pop(key, None) is not None:
                for end in (0, 1):
                    self._at[end][key[end]].discard(key)

    def keys_at(self, ids: Iterable[str], *ends: int) -> set[EdgeKey]:
        """Return the keys of the edges that have one of some nodes at one of the ends (0, 1)."""
        return {key for id in ids for end in ends for key in self._at[end].get(id, ())}

    def at(self, ids: Iterable[str], *ends: int) -> list[Any]:
        """Return the edges that have one of some nodes at one of the ends (0, 1), each once."""
        return [self.rows[key] for key in self.keys_at(ids, *ends)]


class Tables:
    """All rows: nodes by id, edges by key, and recalls as a list."""

    def __init__(self) -> None:
        self.nodes: dict[str, dict[str, Any]] = {table.name: {} for table in NODE_TABLES}
        self.edges = {table.name: EdgeIndex() for table in (MENTIONS, RELATES, LINKS)}
        self.recalled: list[Recalled] = []
        self.documents: dict[str, Document] = self.nodes[DOCUMENT.name]
        self.chunks: dict[str, Chunk] = self.nodes[CHUNK.name]
        self.entities: dict[str, Entity] = self.nodes[ENTITY.name]
        self.sessions: dict[str, Session] = self.nodes[SESSION.name]
        self.changes: dict[str, Change] = self.nodes[CHANGE.name]
        self.jobs: dict[str, Job] = self.nodes[JOB.name]
        self.outbox: dict[str, OutboxRow] = self.nodes[OUTBOX.name]
        self.requests: dict[str, RequestRow] = self.nodes[REQUEST.name]
        self.relations: dict[EdgeKey, Relation] = self.edges[RELATES.name].rows

    def rows(self, table: Table) -> Iterable[Any]:
        """Return every row of a table."""
        if table is RECALLED:
            return self.recalled
        return (self.edges[table.name].rows if table.name in self.edges else self.nodes[table.name]).values()

    def write(self, plan: PlannedWrite) -> None:
        """Apply a write, or nothing of it.

        Raises:
            InvalidInputError: A row is referred to that does not exist, or a change exists already.
        """
        check_references(
            plan.references, lambda table, id: id in self.nodes[table] and id not in plan.removed[table]
        )
        repeated = self.changes.keys() & plan.rows[CHANGE.name].keys()
        if repeated and not plan.verbatim:
            raise InvalidInputError(f"write: change {min(repeated)!r} is recorded already")
        self._apply(plan if plan.verbatim else self._with_images(plan))

    def _apply(self, plan: PlannedWrite) -> None:
        self._remove(plan.removed)
        for name, rows in plan.rows.items():
            if name == CHANGE.name:
                self.changes.update((id, row) for id, row in rows.items() if id not in self.changes)
            elif name in self.nodes:
                self.nodes[name].update(rows)
            else:
                self.edges[name].put(rows)
        for id in plan.embedded:
            if id in self.chunks:
                self.chunks[id] = replace(self.chunks[id], vector_state="ready")
        for recalled in plan.recalled:
            if not plan.verbatim:
                self._count_recall(recalled)
            elif recalled in self.recalled:
                continue
            self.recalled.append(recalled)
        for id in plan.replicated:
            self.outbox.pop(id, None)

    def _remove(self, removed: Mapping[str, tuple[Any, ...]]) -> None:
        for name, keys in removed.items():
            if name in self.edges:
                self.edges[name].remove((*keys, *self._detached(name, removed)))
            for id in keys if name in self.nodes else ():
                self.nodes[name].pop(id, None)
        gone = {*removed[SESSION.name], *removed[CHUNK.name]}
        if gone:
            self.recalled = [row for row in self.recalled if gone.isdisjoint((row.session, row.chunk))]

    def _detached(self, name: str, removed: Mapping[str, tuple[Any, ...]]) -> set[EdgeKey]:
        """Return the keys of the edges of a table that end in a removed node."""
        return self.edges[name].keys_at((*removed[CHUNK.name], *removed[ENTITY.name]), 0, 1)

    def _count_recall(self, recalled: Recalled) -> None:
        chunk = self.chunks[recalled.chunk]
        last = max(filter(None, (chunk.last_recalled_at, recalled.at)))
        self.chunks[chunk.id] = replace(chunk, recall_count=chunk.recall_count + 1, last_recalled_at=last)

    def _with_images(self, plan: PlannedWrite) -> PlannedWrite:
        """Return a write with an image on the first Change of each part; see `storage.undo.write_images`."""
        changes = plan.rows[CHANGE.name]
        images = self._images(plan).texts()
        noted = {id: replace(row, image=images.get(id)) for id, row in changes.items()}
        return replace(plan, rows={**plan.rows, CHANGE.name: noted})

    def _images(self, plan: PlannedWrite) -> WriteImages:
        images = WriteImages(plan)
        removed: dict[str, set[Any]] = {}
        for name, table in TABLES.items():
            stored = self.edges[name].rows if name in self.edges else self.nodes[name]
            detached = self._detached(name, plan.removed) if name in self.edges else ()
            removed[name] = {key for key in (*plan.removed[name], *detached) if key in stored}
            for key in removed[name]:
                images.removed(table, encode(table, stored[key]))
        for name, table in TABLES.items():
            stored = self.edges[name].rows if name in self.edges else self.nodes[name]
            for key, row in plan.rows[name].items():
                there = key in stored and key not in removed[name]
                images.put(table, encode(table, stored[key]) if there else None, encode(table, row))
        return images


def normalised(plan: PlannedWrite) -> PlannedWrite:
    """Return a write whose rows are as an engine would return them."""
    rows = {**plan.rows, **_normalised_rows(plan.rows, (*KEYED_TABLES, REQUEST))}
    recalled = tuple(normalise(RECALLED, row) for row in plan.recalled)
    parts = tuple(_normalised_rows(part, KEYED_TABLES) for part in plan.parts)
    return replace(plan, rows=rows, recalled=recalled, parts=parts)


def _normalised_rows(
    rows: Mapping[str, Mapping[Any, Any]], tables: Iterable[Table]
) -> dict[str, dict[Any, Any]]:
    return {
        table.name: {key: normalise(table, row) for key, row in rows[table.name].items()} for table in tables
    }
