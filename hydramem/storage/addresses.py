"""Addresses: how a row is named by table and key, and the one way to read rows by their names."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from hydramem.storage.images import TABLES, Key, Table
from hydramem.storage.schema import CHANGE, RELATES, NodeTable
from hydramem.storage.store import GraphStore

Address = tuple[str, Key]
"""Name of a table, and a row's key in it."""


def address_of(table: Table, row: object) -> Address:
    """Return how a row is named."""
    if isinstance(table, NodeTable):
        return table.name, (_field(row, "id"),)
    fields = (*table.ends, "id") if hasattr(row, "id") else table.ends
    return table.name, tuple(_field(row, field) for field in fields)


def _field(row: object, name: str) -> str:
    return str(getattr(row, name))


def as_text(address: Address) -> str:
    """Return a row's name in one line, as plans and messages have it."""
    return " ".join((address[0], *address[1]))


def from_text(text: str) -> Address:
    """Read what `as_text` wrote."""
    name, *key = text.split(" ")
    return name, tuple(key)


def rows_at(addresses: Iterable[Address], graph: GraphStore) -> dict[Address, Any]:
    """Read rows by their names, a few statements for all; names of rows that are not there are left out.

    Args:
        addresses: Of Changes and of rows that can be undone.
        graph: Where they are.
    """
    wanted: dict[str, dict[Key, None]] = defaultdict(dict)
    for name, key in addresses:
        wanted[name][key] = None
    found: dict[Address, Any] = {}
    for table in (*TABLES.values(), CHANGE):
        keys = wanted.get(table.name)
        for row in _near(table, list(keys), graph) if keys else ():
            address = address_of(table, row)
            if keys is not None and address[1] in keys:
                found[address] = row
    return found


def _near(table: Table, keys: Sequence[Key], graph: GraphStore) -> Iterable[object]:
    """Return the rows that have these keys, and others beside them."""
    if table is RELATES:  # by both ends: a hub's other relations are none of ours
        return graph.relations_between([(key[0], key[1]) for key in keys])
    first = list(dict.fromkeys(key[0] for key in keys))
    if table is CHANGE:
        return (change for id in first for change in graph.changes(id=id))
    by_name: dict[str, Callable[[Sequence[str]], Iterable[object]]] = {
        "Document": graph.documents,
        "Session": graph.sessions,
        "Entity": graph.entities,
        "Chunk": graph.chunks,
        "MENTIONS": graph.mentions,
        "LINKS": graph.links,
    }
    return by_name[table.name](first)
