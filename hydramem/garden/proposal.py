"""What a phase of the gardener wants to change, as a value: it can be shown, written down, and done later."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from hydramem.core.ids import content_hash
from hydramem.core.row_types import Phase
from hydramem.storage.exchange.json_lines import to_line
from hydramem.storage.undo.undo_images import TABLES, Address, Table
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
