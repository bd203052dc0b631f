"""What a proposal rests on: digests of rows as they were seen, and a look whether they still are so."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from hydramem.core.ids import content_hash
from hydramem.core.row_types import Phase
from hydramem.storage.exchange.json_lines import to_line
from hydramem.storage.row_codec import encode
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
)
from hydramem.storage.store import GraphStore
from hydramem.storage.undo.undo_images import TABLES, Address, Table, address_of, digest, rows_at
from hydramem.storage.write import Write

Action = Literal["add", "change", "archive", "merge", "link", "remove", "judge"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """One change, small enough to be done or refused on its own.

    Attributes:
        action: What it does to its target.
        target: Id of the row that it is about.
        text: The same in names that a person knows: `Ada works_for Acme`.
        reason: Why, in a sentence.
        score: How sure the phase is, 0 to 1; None where nothing is uncertain.
        write: The rows as they become, without Changes: those are recorded when it is done.
        expects: Digest of each row that it rests on, as `expect.expected` gives them; None for a row that
            was not there. Where one differs by then, the proposal is refused.
        told: What its Change says besides, as JSON holds it, where it is about no row that is left.
    """

    project: str
    phase: Phase
    action: Action
    target: str
    text: str
    reason: str
    score: float | None = None
    write: Write
    expects: Mapping[Address, str | None] = field(default_factory=dict)
    told: Mapping[str, Any] = field(default_factory=dict)

    @property
    def id(self) -> str:
        """Address it by what it is: the same proposal of another night has the same id."""
        rows = sorted(to_line(table_of(row), row) for row in written(self.write))
        told = (self.project, self.phase, self.action, self.target, rows, self.write.removed)
        return f"p_{content_hash(repr(told))}"


def table_of(row: object) -> Table:
    """Return the table of a row."""
    return next(table for table in TABLES.values() if isinstance(row, table.row))


def written(write: Write) -> Iterator[object]:
    """Yield the rows that a write puts in."""
    yield from write.documents
    yield from write.sessions
    yield from write.entities
    yield from write.chunks
    yield from write.mentions
    yield from write.relations
    yield from write.links


def precondition_hash(
    *rows: object, absent: Iterable[tuple[Table, object]] = ()
) -> dict[Address, str | None]:
    """Return the digests of rows as they are now.

    Args:
        rows: Rows as they were read.
        absent: Rows that a proposal makes, with their tables: none of their key is there.
    """
    seen: dict[Address, str | None] = {address_of(table_of(row), row): digest_of(row) for row in rows}
    seen |= {address_of(table, row): None for table, row in absent}
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
        yield from ((table.name, (id,)) for id in ids)
    for edges, keys in ((RELATES, gone.relations), (LINKS, gone.links), (MENTIONS, gone.mentions)):
        yield from ((edges.name, key) for key in keys)
    # They go together or not at all: the first stands for the others.
    yield from ((CHANGE.name, (id,)) for id in gone.changes[:1])


def touched(proposal: Proposal) -> set[Address]:
    """Return the addresses of every row that a proposal writes, takes out, or rests on."""
    return changed(proposal) | proposal.expects.keys()


def changed(proposal: Proposal) -> set[Address]:
    """Return the addresses of every row that a proposal writes or takes out."""
    return {address_of(table_of(row), row) for row in written(proposal.write)} | set(removed(proposal.write))


def _ends(address: Address) -> Iterator[Address]:
    """Yield the nodes that an edge joins, by its address; none for a node."""
    name, key = address
    table = TABLES.get(name)
    if isinstance(table, EdgeTable):
        yield from ((table.source, key[:1]), (table.target, key[1:2]))


class ClaimedRows:
    """Rows that some proposals change or rest on: many may rest on one, none on what another changes.

    A node may change under its edges; where it goes, they go too.
    """

    def __init__(self) -> None:
        self._changed: set[Address] = set()
        self._rested_on: set[Address] = set()
        self._gone: set[Address] = set()
        self._ends: set[Address] = set()

    def take(self, proposal: Proposal) -> Address | None:
        """Take a proposal's rows; return one that is taken already instead, where there is one."""
        own, seen, gone = changed(proposal), touched(proposal), set(removed(proposal.write))
        ends = {end for each in seen for end in _ends(each)}
        clash = (own & self._rested_on) | (seen & self._changed) | (gone & self._ends) | (ends & self._gone)
        if clash:
            return min(clash)
        self._changed |= own
        self._rested_on |= seen
        self._gone |= gone
        self._ends |= ends
        return None


class Current:
    """The rows that some proposals touch, as the store has them now; read in a few statements."""

    def __init__(self, proposals: Sequence[Proposal], graph: GraphStore) -> None:
        self._rows = rows_at({name for proposal in proposals for name in touched(proposal)}, graph)

    def row(self, name: Address) -> Any:
        """Return a row by its address, None where there is none."""
        return self._rows.get(name)

    def differing(self, expects: Mapping[Address, str | None]) -> tuple[Address, ...]:
        """Return what is not as it was seen."""
        return tuple(name for name, seen in expects.items() if self._digest(name) != seen)

    def stands(self, write: Write) -> bool:
        """Say whether the store is as a write would leave it."""
        return all(
            self._digest(address_of(table_of(row), row)) == digest_of(row) for row in written(write)
        ) and not any(name in self._rows for name in removed(write))

    def _digest(self, name: Address) -> str | None:
        row = self._rows.get(name)
        return None if row is None else digest_of(row)
