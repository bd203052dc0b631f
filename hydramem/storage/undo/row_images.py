"""Images: what is needed to undo a write, as the store saves it on the first Change of each write.

An image names the rows that were made, each with a digest that reveals later changes; the columns
that were set, before and after; and the rows that were removed, whole. Mentions of a chunk that the same
write made are left out: they are removed with it. An address is the name of a table and a row's key in it.
"""

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from hashlib import blake2b
from typing import Any

from hydramem.storage.row_codec import Values
from hydramem.storage.schema import (
    CHANGE,
    CHUNK,
    DOCUMENT,
    ENTITY,
    ITEM,
    LINKS,
    MENTIONS,
    RELATES,
    SESSION,
    Column,
    NodeTable,
    Table,
)
from hydramem.storage.store import GraphStore

Key = tuple[str, ...]
"""Of a node its id; of an edge its ends and, where it has one, its id."""
Address = tuple[str, Key]
"""Name of a table, and a row's key in it."""

TABLES: Mapping[str, Table] = {
    table.name: table for table in (DOCUMENT, SESSION, ENTITY, CHUNK, ITEM, MENTIONS, RELATES, LINKS)
}
"""The tables that can be undone, nodes before the edges between them."""

UNTRACKED = {
    CHUNK.name: frozenset({"recall_count", "last_recalled_at", "vector_state"}),
    ENTITY.name: frozenset({"mention_count"}),
}
"""Columns that no image holds: reads and upkeep write them, or they are counted anew."""

DERIVED = {
    CHUNK.name: UNTRACKED[CHUNK.name],
    ENTITY.name: UNTRACKED[ENTITY.name] | {"first_seen", "last_seen"},
    SESSION.name: frozenset({"last_at"}),
    ITEM.name: frozenset({"expires_at"}),
}
"""Columns that follow from other rows, or from reads: to write them is not to change the row."""
_NONE: frozenset[str] = frozenset()
ITEM_TEXT = "item"
"""Type of the source of chunks that hold a text of an item: they expire with it, and reads move that time."""
_DERIVED_OF_ITEM_TEXTS = DERIVED[CHUNK.name] | {"expires_at"}


def derived_columns(table: Table, values: Mapping[str, Any]) -> frozenset[str]:
    """Return the derived columns of a row; `values` has its `source_type` where it is a chunk."""
    if table is CHUNK and values.get("source_type") == ITEM_TEXT:
        return _DERIVED_OF_ITEM_TEXTS
    return DERIVED.get(table.name, _NONE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Trace:
    """What one write did to one row, or a run of them in the end; values as `row_codec.encode` has them.

    Attributes:
        before: The whole row that was removed, or the columns that were set as they were; None where the row
            was made.
        after: The columns that were set as they became; None where the row was removed.
        digest: Of the row as it became, without derived columns; None where only those were set.
        whole: Whether `before` is the whole row.
    """

    table: Table
    key: Key
    before: Mapping[str, Any] | None
    after: Mapping[str, Any] | None
    digest: str | None = None
    whole: bool = False

    @property
    def address(self) -> Address:
        """Name of the table, and key."""
        return self.table.name, self.key

    def then(self, later: "Trace") -> "Trace | None":
        """Return what this and a later write of the row did together; None where that is nothing."""
        if self.before is None and later.after is None:
            return None
        before, whole = self.before, self.whole
        if self.before is not None and not self.whole and self.after is not None:
            # What the first write left alone is still as the later one found it.
            before, whole = {**(later.before or {}), **self.before}, later.whole
        after = later.after
        if after is not None and self.after is not None:
            after = {**self.after, **after}
        return Trace(
            table=self.table,
            key=self.key,
            before=before,
            after=after,
            digest=later.digest or self.digest,
            whole=whole,
        )


def key_of(table: Table, values: Mapping[str, Any]) -> Key:
    """Return how a row of a table is addressed."""
    if isinstance(table, NodeTable):
        return (values["id"],)
    ends = (values["_from"], values["_to"])
    return (*ends, values["id"]) if "id" in values else ends


def digest(table: Table, values: Mapping[str, Any]) -> str:
    """Return a short digest of a row, its derived columns left out."""
    derived = derived_columns(table, values)
    kept = [values[column.name] for column in table.columns if column.name not in derived]
    return blake2b(repr(kept).encode("utf-8", "surrogatepass"), digest_size=6).hexdigest()


@dataclass(slots=True)
class ImageMaker:
    """Records what a transaction does, row by row."""

    _made: dict[str, list[list[Any]]] = field(default_factory=dict)
    _set: dict[str, list[list[Any]]] = field(default_factory=dict)
    _removed: dict[str, list[Values]] = field(default_factory=dict)
    _new: set[str] = field(default_factory=set)

    def made(self, table: Table, values: Values) -> None:
        """Note a row that was not there."""
        key = key_of(table, values)
        if table is CHUNK:
            self._new.add(key[0])
        elif table is MENTIONS and key[0] in self._new:
            return
        self._made.setdefault(table.name, []).append([*key, digest(table, values)])

    def changed(self, table: Table, before: Mapping[str, Any], after: Values) -> None:
        """Note a row that was replaced; `before` has at least the columns that differ."""
        untracked = UNTRACKED.get(table.name, _NONE)
        differing = {
            column.name: [_plain(column, before[column.name]), after[column.name]]
            for column in table.columns
            if column.name in before
            and column.name not in untracked
            and _plain(column, before[column.name]) != after[column.name]
        }
        if differing:
            digest_after = None if differing.keys() <= derived_columns(table, after) else digest(table, after)
            self._set.setdefault(table.name, []).append([*key_of(table, after), digest_after, differing])

    def removed(self, table: Table, values: Values) -> None:
        """Note a row that was removed."""
        self._removed.setdefault(table.name, []).append(values)

    def text(self) -> str | None:
        """Return the image; None where nothing was done."""
        for rows in (*self._made.values(), *self._set.values()):
            rows.sort()  # by key, which no two rows of a table share
        for name, removed in self._removed.items():
            removed.sort(key=partial(key_of, TABLES[name]))
        parts = {"made": self._made, "set": self._set, "removed": self._removed}
        image = {name: rows for name, rows in parts.items() if rows}
        if not image:
            return None
        return json.dumps(image, separators=(",", ":"), sort_keys=True, default=datetime.isoformat)


def joined(images: Iterable[str]) -> list[Trace]:
    """Return what a run of images, oldest first, did to each row in the end."""
    traces: dict[Address, Trace] = {}
    for image in images:
        for trace in _traces(json.loads(image)):
            _join(traces, trace)
    return list(traces.values())


def _join(traces: dict[Address, Trace], trace: Trace) -> None:
    earlier = traces.get(trace.address)
    both = trace if earlier is None else earlier.then(trace)
    if both is None:
        del traces[trace.address]
    else:
        traces[trace.address] = both


def _traces(image: Mapping[str, Any]) -> Iterable[Trace]:
    for name, rows in image.get("removed", {}).items():
        table = TABLES[name]
        for row in rows:
            values = _values(table, row)
            yield Trace(table=table, key=key_of(table, values), before=values, after=None, whole=True)
    for name, rows in image.get("made", {}).items():
        for *key, digest in rows:
            yield Trace(table=TABLES[name], key=tuple(key), before=None, after={}, digest=digest)
    for name, rows in image.get("set", {}).items():
        table = TABLES[name]
        for *key, digest, columns in rows:
            before = _values(table, {column: pair[0] for column, pair in columns.items()})
            after = _values(table, {column: pair[1] for column, pair in columns.items()})
            yield Trace(table=table, key=tuple(key), before=before, after=after, digest=digest)


def _values(table: Table, values: Mapping[str, Any]) -> Values:
    """Return values from JSON as `row_codec.encode` has them."""
    times = {column.name for column in table.columns if column.kind == "time"}
    return {
        name: datetime.fromisoformat(value) if name in times and value is not None else value
        for name, value in values.items()
    }


def _plain(column: Column, value: Any) -> Any:
    # An engine may give an empty list back as null.
    return [] if column.kind == "texts" and value is None else value


def address_of(table: Table, row: object) -> Address:
    """Return the address of a row."""
    return table.name, tuple(str(getattr(row, name)) for name in table.key_fields)


def as_text(address: Address) -> str:
    """Return an address in one line, as plans and messages have it."""
    return " ".join((address[0], *address[1]))


def from_text(text: str) -> Address:
    """Read what `as_text` wrote."""
    name, *key = text.split(" ")
    return name, tuple(key)


def rows_at(addresses: Iterable[Address], graph: GraphStore) -> dict[Address, Any]:
    """Read rows by their addresses, with a few statements for all; unknown addresses are left out.

    Args:
        addresses: Of Changes and of rows that can be undone.
    """
    wanted: dict[str, dict[Key, None]] = defaultdict(dict)
    for name, key in addresses:
        wanted[name][key] = None
    found: dict[Address, Any] = {}
    for table in (*TABLES.values(), CHANGE):
        keys = wanted.get(table.name)
        for row in _rows_around(table, list(keys), graph) if keys else ():
            address = address_of(table, row)
            if keys is not None and address[1] in keys:
                found[address] = row
    return found


def _rows_around(table: Table, keys: Sequence[Key], graph: GraphStore) -> Iterable[object]:
    """Return the rows that have these keys, and some others."""
    if table is RELATES:  # by both ends, because an entity may have many other relations
        return graph.relations_between([(key[0], key[1]) for key in keys])
    first = list(dict.fromkeys(key[0] for key in keys))
    if table is CHANGE:
        return (change for id in first for change in graph.changes(id=id))
    return (
        graph.nodes(table, first) if isinstance(table, NodeTable) else graph.edges(table, first, end="source")
    )
