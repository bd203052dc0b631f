"""Proposals: single changes that a phase suggests, each with its preconditions (digests of rows it read)."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
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
    Table,
)
from hydramem.storage.store import GraphStore
from hydramem.storage.undo.row_images import TABLES, Address, address_of, digest, rows_at
from hydramem.storage.write import Write
from hydramem.text.shown_text import one_line

Action = Literal["add", "change", "archive", "merge", "link", "remove", "judge"]
Preconditions = Mapping[Address, str | None]
"""Digests of the rows that a proposal rests on, by address; None for a row that must not exist."""

ROW_FIELDS = ("documents", "sessions", "entities", "chunks", "mentions", "relations", "links")
"""The fields of a `Write` that hold rows which the gardener writes."""

_TEXT_SHOWN = 80
SHOWN_FIELDS = ("id", "phase", "action", "target", "text", "reason", "score")
"""The fields of a proposal that plan files and reports hold as they are."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """One change that is applied or refused as a whole.

    Attributes:
        action: What it does to its target.
        target: Id of the row that changes.
        text: The change in names a person knows: `Ada works_for Acme`.
        reason: Why, in a sentence.
        score: How sure the phase is, 0 to 1; None where nothing is uncertain.
        write: The rows after the change, without Changes: those are recorded when it is applied.
        expects: The preconditions; where one no longer holds, the proposal is refused.
        told: What its Change records besides, as JSON, where no changed row remains to be recorded.
    """

    project: str
    phase: Phase
    action: Action
    target: str
    text: str
    reason: str
    score: float | None = None
    write: Write
    expects: Preconditions = field(default_factory=dict)
    told: Mapping[str, Any] = field(default_factory=dict)

    @property
    def id(self) -> str:
        """An id made from the content: the same proposal of another run has the same id."""
        rows = sorted(to_line(table_of(row), row) for row in written_rows(self.write))
        content = (self.project, self.phase, self.action, self.target, rows, self.write.removed)
        return f"p_{content_hash(repr(content))}"


def quoted(text: str) -> str:
    """Return the beginning of a text in quotation marks, for the text of a proposal."""
    return f'"{one_line(text, _TEXT_SHOWN)}"'


def table_of(row: object) -> Table:
    """Return the table of a row."""
    return next(table for table in TABLES.values() if isinstance(row, table.row))


def written_rows(write: Write) -> Iterator[object]:
    """Iterate over the rows that a write puts in."""
    return chain(*(getattr(write, name) for name in ROW_FIELDS))


def row_address(row: object) -> Address:
    """Return the address of a row."""
    return address_of(table_of(row), row)


def row_digest(row: object) -> str:
    """Return the digest of a row without its derived columns."""
    table = table_of(row)
    return digest(table, encode(table, row))


def precondition_hash(*rows: object, absent: Iterable[object] = ()) -> dict[Address, str | None]:
    """Return the preconditions of a proposal.

    Args:
        rows: Rows as they were read.
        absent: Rows that the proposal creates: none of their address may exist.
    """
    expected: dict[Address, str | None] = {row_address(row): row_digest(row) for row in rows}
    return expected | {row_address(row): None for row in absent}


def removed_addresses(write: Write) -> Iterator[Address]:
    """Yield the addresses of the rows that a write removes."""
    gone = write.removed
    nodes = ((DOCUMENT, gone.documents), (CHUNK, gone.chunks), (ENTITY, gone.entities))
    for table, ids in (*nodes, (SESSION, gone.sessions)):
        yield from ((table.name, (id,)) for id in ids)
    for edges, keys in ((RELATES, gone.relations), (LINKS, gone.links), (MENTIONS, gone.mentions)):
        yield from ((edges.name, key) for key in keys)
    # Changes are removed all together: the first represents the others.
    yield from ((CHANGE.name, (id,)) for id in gone.changes[:1])


def changed_addresses(proposal: Proposal) -> set[Address]:
    """Return the addresses of every row that a proposal writes or removes."""
    return set(map(row_address, written_rows(proposal.write))) | set(removed_addresses(proposal.write))


def touched_addresses(proposal: Proposal) -> set[Address]:
    """Return the addresses of every row that a proposal writes, removes, or depends on."""
    return changed_addresses(proposal) | proposal.expects.keys()


def _ends_of(address: Address) -> Iterator[Address]:
    """Yield the nodes that an edge joins, by its address; none for a node."""
    name, key = address
    table = TABLES.get(name)
    if isinstance(table, EdgeTable):
        yield from ((table.source, key[:1]), (table.target, key[1:2]))


class ClaimedRows:
    """The rows that accepted proposals change or depend on.

    Several may depend on the same row, but none on a row that another changes. A node may change while its
    edges are claimed; it may not be removed.
    """

    def __init__(self) -> None:
        self._changed: set[Address] = set()
        self._read: set[Address] = set()
        self._removed: set[Address] = set()
        self._ends: set[Address] = set()

    def claim(self, proposal: Proposal) -> Address | None:
        """Claim a proposal's rows; where one is taken already, claim nothing and return it."""
        changed, read = changed_addresses(proposal), touched_addresses(proposal)
        removed = set(removed_addresses(proposal.write))
        ends = {end for address in read for end in _ends_of(address)}
        taken = (changed & self._read) | (read & self._changed)
        taken |= (removed & self._ends) | (ends & self._removed)
        if taken:
            return min(taken)
        self._changed |= changed
        self._read |= read
        self._removed |= removed
        self._ends |= ends
        return None


class CurrentRows:
    """The stored rows that some proposals touch, read in a few statements."""

    def __init__(self, proposals: Sequence[Proposal], graph: GraphStore) -> None:
        self._rows = rows_at({at for proposal in proposals for at in touched_addresses(proposal)}, graph)

    def row(self, address: Address) -> Any:
        """Return the row at an address, None where there is none."""
        return self._rows.get(address)

    def differing(self, expects: Preconditions) -> tuple[Address, ...]:
        """Return the addresses whose preconditions no longer hold."""
        return tuple(address for address, seen in expects.items() if self._digest(address) != seen)

    def matches(self, write: Write) -> bool:
        """Say whether the store already is as a write would leave it."""
        return all(
            self._digest(row_address(row)) == row_digest(row) for row in written_rows(write)
        ) and not any(address in self._rows for address in removed_addresses(write))

    def _digest(self, address: Address) -> str | None:
        row = self._rows.get(address)
        return None if row is None else row_digest(row)
