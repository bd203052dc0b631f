"""Filters as SQL conditions on a row `c`: every value is a parameter, and never part of the text."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from hydramem.storage.chunk_filter import ChunkFilter, NamedConditions, RowFilter


@dataclass(slots=True)
class SqlConditions(NamedConditions):
    """Conditions on a row `c` and the parameters that they name."""

    def one_of(self, column: str, values: Sequence[str]) -> None:
        """Add that a column is one of some values; none given does not restrict."""
        if values:
            self.add(f'c."{column}" = ANY(%({column}_any)s::text[])', **{f"{column}_any": list(values)})

    def times(self, at: datetime | None, known_at: datetime | None) -> None:
        """Add that moments are within valid and recorded time; None does not restrict."""
        if at is not None:
            self.add(
                "(c.valid_from IS NULL OR c.valid_from <= %(at)s) "
                "AND (c.valid_to IS NULL OR %(at)s < c.valid_to)",
                at=at,
            )
        if known_at is not None:
            self.add(
                "c.recorded_at <= %(known_at)s AND (c.retired_at IS NULL OR %(known_at)s < c.retired_at)",
                known_at=known_at,
            )


def row_conditions(where: RowFilter) -> SqlConditions:
    """Return what `RowFilter.admits` means."""
    conditions = SqlConditions()
    for column, value in where.equal.items():
        if value is not None:
            conditions.add(f'c."{column}" = %({column})s', **{column: value})
    for column, text in where.starts.items():
        if text:
            conditions.add(f'starts_with(c."{column}", %({column}_start)s)', **{f"{column}_start": text})
    parts = {column: text for column, text in where.contains.items() if text}
    if parts:
        contains = " AND ".join(f'strpos(c."{column}", %({column}_part)s) > 0' for column in parts)
        conditions.add(
            f"({contains} OR c.id = ANY(%(contained)s::text[]))",
            contained=sorted(where.contained),
            **{f"{column}_part": text for column, text in parts.items()},
        )
    for column, values in where.one_of.items():
        conditions.one_of(column, values)
    conditions.times(where.at, where.known_at)
    return conditions


def chunk_conditions(where: ChunkFilter) -> SqlConditions:
    """Return what `ChunkFilter.admits` means."""
    conditions = SqlConditions()
    for column, values in where.allowed.items():
        conditions.one_of(column, values)
    if where.categories:
        conditions.add("c.categories && %(categories)s::text[]", categories=list(where.categories))
    if where.scope is not None:
        conditions.add(UNDER_SCOPE, **scope_parameters(where.scope))
    if not where.include_private:
        conditions.add("NOT c.private")
    conditions.add("c.confidence >= %(least)s", least=float(where.min_confidence))
    if where.happened_from is not None:
        conditions.add("c.happened_at >= %(happened_from)s", happened_from=where.happened_from)
    if where.happened_to is not None:
        conditions.add("c.happened_at <= %(happened_to)s", happened_to=where.happened_to)
    if where.at is not None:
        conditions.add("(c.expires_at IS NULL OR %(at)s < c.expires_at)")
    conditions.times(where.at, where.known_at)
    return conditions


UNDER_SCOPE = "(c.scope = %(stem)s OR starts_with(c.scope, %(under)s))"
"""Whether a chunk is at or under a scope, by `scope_parameters`."""


def scope_parameters(scope: str) -> dict[str, str]:
    """Return the parameters of `UNDER_SCOPE`."""
    stem = scope.rstrip("/")
    return {"stem": stem, "under": stem + "/"}
