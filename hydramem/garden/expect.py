"""What a proposal rests on: digests of rows as they were seen, and a look whether they still are so."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from hydramem.garden.proposal import Proposal, table_of, written
from hydramem.storage.images import TABLES, digest
from hydramem.storage.rows import encode
from hydramem.storage.schema import (
    CHANGE,
    CHUNK,
    DOCUMENT,
    ENTITY,
    LINKS,
    MENTIONS,
    RELATES,
    SESSION,
    EdgeTable,
    NodeTable,
)
from hydramem.storage.store import GraphStore, Write

Address = str
"""A table's name and the row's key, joined by spaces: how a proposal names a row."""


def address(table: NodeTable | EdgeTable, row: object) -> Address:
    """Return how a proposal names a row."""
    fields = ("id",) if isinstance(table, NodeTable) else (*table.ends, "id")
    return " ".join((table.name, *(getattr(row, field) for field in fields if hasattr(row, field))))


def expected(
    *rows: object, absent: Iterable[tuple[NodeTable | EdgeTable, object]] = ()
) -> dict[Address, str | None]:
    """Return the digests of rows as they are now.

    Args:
        rows: Rows as they were read.
        absent: Rows that a proposal makes, with their tables: none of their key is there.
    """
    seen: dict[Address, str | None] = {address(table_of(row), row): digest_of(row) for row in rows}
    seen |= {address(table, row): None for table, row in absent}
    return seen


def digest_of(row: object) -> str:
    """Return a row's digest; what is counted of it does not matter."""
    table = table_of(row)
    return digest(table, encode(table, row))


def removed(write: Write) -> Iterator[Address]:
    """Yield the addresses of the rows that a write takes out."""
    gone = write.removed
    nodes = ((DOCUMENT, gone.documents), (CHUNK, gone.chunks), (ENTITY, gone.entities))
    for table, ids in (*nodes, (SESSION, gone.sessions)):
        yield from (f"{table.name} {id}" for id in ids)
    for edges, keys in ((RELATES, gone.relations), (LINKS, gone.links), (MENTIONS, gone.mentions)):
        yield from (" ".join((edges.name, *key)) for key in keys)
    # They go together or not at all: the first stands for the others.
    yield from (f"{CHANGE.name} {id}" for id in gone.changes[:1])


def touched(proposal: Proposal) -> set[Address]:
    """Return the addresses of every row that a proposal writes, takes out, or rests on."""
    return changed(proposal) | proposal.expects.keys()


def changed(proposal: Proposal) -> set[Address]:
    """Return the addresses of every row that a proposal writes or takes out."""
    return {address(table_of(row), row) for row in written(proposal.write)} | set(removed(proposal.write))


class Taken:
    """Rows that some proposals change or rest on: many may rest on one, none on what another changes."""

    def __init__(self) -> None:
        self._changed: set[Address] = set()
        self._rested_on: set[Address] = set()

    def take(self, proposal: Proposal) -> Address | None:
        """Take a proposal's rows; return one that is taken already instead, where there is one."""
        own = changed(proposal)
        clash = (own & self._rested_on) | (touched(proposal) & self._changed)
        if clash:
            return min(clash)
        self._changed |= own
        self._rested_on |= touched(proposal)
        return None


class Current:
    """The rows that some proposals touch, as the store has them now; read in a few statements."""

    def __init__(self, proposals: Sequence[Proposal], graph: GraphStore) -> None:
        wanted = {name for proposal in proposals for name in touched(proposal)}
        self._rows: dict[Address, object] = {}
        for table in TABLES.values():
            keys = [name.split(" ")[1:] for name in wanted if name.split(" ", 1)[0] == table.name]
            for row in _read(table, keys, graph) if keys else ():
                name = address(table, row)
                if name in wanted:
                    self._rows[name] = row
        for name in wanted:
            table_name, _, id = name.partition(" ")
            for change in graph.changes(id=id) if table_name == CHANGE.name else ():
                self._rows[name] = change

    def row(self, name: Address) -> Any:
        """Return a row by its address, None where there is none."""
        return self._rows.get(name)

    def differing(self, expects: Mapping[Address, str | None]) -> tuple[Address, ...]:
        """Return what is not as it was seen."""
        return tuple(name for name, seen in expects.items() if self._digest(name) != seen)

    def stands(self, write: Write) -> bool:
        """Say whether the store is as a write would leave it."""
        return all(
            self._digest(address(table_of(row), row)) == digest_of(row) for row in written(write)
        ) and not any(name in self._rows for name in removed(write))

    def _digest(self, name: Address) -> str | None:
        row = self._rows.get(name)
        return None if row is None else digest_of(row)


def _read(table: NodeTable | EdgeTable, keys: Sequence[Sequence[str]], graph: GraphStore) -> Iterable[object]:
    if table is RELATES:  # by both ends: a hub's other relations are none of a proposal's
        return graph.relations_between([(key[0], key[1]) for key in keys])
    first = list(dict.fromkeys(key[0] for key in keys))
    by_name: dict[str, Callable[[Sequence[str]], Iterable[object]]] = {
        "Document": graph.documents,
        "Session": graph.sessions,
        "Entity": graph.entities,
        "Chunk": graph.chunks,
        "MENTIONS": graph.mentions,
        "LINKS": graph.links,
    }
    return by_name[table.name](first)
