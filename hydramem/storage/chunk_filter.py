"""Filters: which chunks a read may see, which rows a list has, and the tests of times and scopes in them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from hydramem.core.row_types import Chunk, ChunkKind, State, Tier, Times

LIVE: tuple[State, ...] = ("active",)


@dataclass(frozen=True, slots=True, kw_only=True)
class ChunkFilter:
    """Which chunks a read may see. An empty tuple or None does not restrict.

    Attributes:
        at: A moment that must be within valid time and before expiry.
        known_at: A moment that must be within recorded time.
        scope: A path; chunks at or under it pass, by whole segments.
        happened_from, happened_to: Closed interval around `happened_at`.
    """

    projects: tuple[str, ...] = ()
    kinds: tuple[ChunkKind, ...] = ()
    layers: tuple[Tier, ...] = ()
    states: tuple[State, ...] = LIVE
    scope: str | None = None
    categories: tuple[str, ...] = ()
    sessions: tuple[str, ...] = ()
    documents: tuple[str, ...] = ()
    include_private: bool = True
    min_confidence: float = 0.0
    happened_from: datetime | None = None
    happened_to: datetime | None = None
    at: datetime | None = None
    known_at: datetime | None = None

    @property
    def allowed(self) -> Mapping[str, tuple[str, ...]]:
        """The values that columns may have, by column; an empty tuple does not restrict."""
        return {
            "project": self.projects,
            "kind": self.kinds,
            "layer": self.layers,
            "state": self.states,
            "document": self.documents,
            "session": self.sessions,
        }

    def admits(self, chunk: Chunk) -> bool:
        """Say whether a chunk passes; the meaning that every store's own filter must reproduce."""
        return (
            all(not values or getattr(chunk, name) in values for name, values in self.allowed.items())
            and (not self.categories or not set(self.categories).isdisjoint(chunk.categories))
            and (self.scope is None or within_scope(chunk.scope, self.scope))
            and (self.include_private or not chunk.private)
            and chunk.confidence >= self.min_confidence
            and self._admits_times(chunk)
        )

    def _admits_times(self, chunk: Chunk) -> bool:
        times, happened = chunk.times, chunk.happened_at
        if self.happened_from is not None and (happened is None or happened < self.happened_from):
            return False
        if self.happened_to is not None and (happened is None or happened > self.happened_to):
            return False
        if self.at is not None and not covers(None, chunk.expires_at, self.at):
            return False
        return holds(times, self.at, self.known_at)


@dataclass(frozen=True, slots=True, kw_only=True)
class RowFilter:
    """Which rows of a table a list has. None and empty values do not restrict.

    Attributes:
        equal: Values of columns.
        one_of: The values that columns may have.
        starts: Columns whose text starts with a text.
        contains: Columns whose text contains a text.
        contained: Ids of rows that count as containing all of these texts, such as in an alias.
        at, known_at: As in `ChunkFilter`.
    """

    equal: Mapping[str, str | None] = field(default_factory=dict)
    one_of: Mapping[str, Sequence[str]] = field(default_factory=dict)
    starts: Mapping[str, str | None] = field(default_factory=dict)
    contains: Mapping[str, str | None] = field(default_factory=dict)
    contained: frozenset[str] = frozenset()
    at: datetime | None = None
    known_at: datetime | None = None

    def admits(self, row: Any) -> bool:
        """Say whether a row passes; the meaning that every store's own filter must reproduce."""
        return (
            all(value is None or getattr(row, name) == value for name, value in self.equal.items())
            and all(not values or getattr(row, name) in values for name, values in self.one_of.items())
            and all(getattr(row, name).startswith(text or "") for name, text in self.starts.items())
            and (
                row.id in self.contained
                or all((text or "") in getattr(row, name) for name, text in self.contains.items())
            )
            and (self.at is self.known_at is None or holds(row.times, self.at, self.known_at))
        )


def covers(start: datetime | None, end: datetime | None, moment: datetime) -> bool:
    """Say whether a moment is in a half-open interval; None is unbounded."""
    return (start is None or start <= moment) and (end is None or moment < end)


def holds(times: Times, at: datetime | None, known_at: datetime | None) -> bool:
    """Say whether moments are within valid and recorded time; None does not restrict."""
    return (at is None or covers(times.valid_from, times.valid_to, at)) and (
        known_at is None or covers(times.recorded_at, times.retired_at, known_at)
    )


def within_scope(scope: str, prefix: str) -> bool:
    """Say whether a scope is at or under a prefix, whole segments only."""
    stem = prefix.rstrip("/")
    return scope == stem or scope.startswith(stem + "/")


@dataclass(slots=True)
class NamedConditions:
    """Conditions of a query language on a row, and the parameters that they name."""

    clauses: list[str] = field(default_factory=list)
    parameters: dict[str, object] = field(default_factory=dict)

    def add(self, clause: str, **parameters: object) -> None:
        """Add a condition and the parameters that it names."""
        self.clauses.append(clause)
        self.parameters.update(parameters)

    @property
    def where(self) -> str:
        """The conditions as a WHERE clause, empty where there are none."""
        return f" WHERE {' AND '.join(self.clauses)}" if self.clauses else ""
