"""Filters as Cypher conditions: every value is a parameter, and never part of the text."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from hydramem.storage.chunk_filter import ChunkFilter, NamedConditions, RowFilter


@dataclass(slots=True)
class Conditions(NamedConditions):
    """Conditions on a chunk `c` and the parameters that they name."""

    def one_of(self, column: str, values: Sequence[str]) -> None:
        """Add that a column is one of some values; none given does not restrict."""
        if values:
            self.add(f"c.`{column}` IN ${column}s", **{f"{column}s": list(values)})

    def valid(self, at: datetime | None) -> None:
        """Add that a moment is within valid time; None does not restrict."""
        if at is not None:
            self.add(
                "(c.valid_from IS NULL OR c.valid_from <= $at) AND (c.valid_to IS NULL OR $at < c.valid_to)",
                at=at,
            )

    def known(self, at: datetime | None) -> None:
        """Add that a moment is within recorded time; None does not restrict."""
        if at is not None:
            self.add(
                "c.recorded_at <= $known_at AND (c.retired_at IS NULL OR $known_at < c.retired_at)",
                known_at=at,
            )


def row_conditions(where: RowFilter) -> Conditions:
    """Return what `RowFilter.admits` means, as conditions on a row `c`."""
    conditions = Conditions()
    for column, value in where.equal.items():
        if value is not None:
            conditions.add(f"c.`{column}` = ${column}", **{column: value})
    for column, text in where.starts.items():
        if text:  # the engines find the empty text in no other
            conditions.add(f"starts_with(c.`{column}`, ${column}_part)", **{f"{column}_part": text})
    _add_contains(conditions, where)
    for column, values in where.one_of.items():
        conditions.one_of(column, values)
    conditions.valid(where.at)
    conditions.known(where.known_at)
    return conditions


def _add_contains(conditions: Conditions, where: RowFilter) -> None:
    parts = {column: text for column, text in where.contains.items() if text}
    if not parts:
        return
    contains = " AND ".join(f"contains(c.`{column}`, ${column}_part)" for column in parts)
    parameters: dict[str, object] = {f"{column}_part": text for column, text in parts.items()}
    if where.contained:
        contains = f"({contains} OR c.id IN $contained)"
        parameters["contained"] = sorted(where.contained)
    conditions.add(contains, **parameters)


def chunk_conditions(where: ChunkFilter) -> Conditions:
    """Return what `ChunkFilter.admits` means, as conditions on a chunk `c`."""
    conditions = Conditions()
    for column, values in where.allowed.items():
        conditions.one_of(column, values)
    if where.categories:
        names = {f"category_{place}": value for place, value in enumerate(where.categories)}
        any_of = " OR ".join(f"list_contains(c.categories, ${name})" for name in names)
        conditions.add(f"({any_of})", **names)
    if where.scope is not None:
        stem = where.scope.rstrip("/")
        conditions.add("(c.scope = $stem OR starts_with(c.scope, $under))", stem=stem, under=stem + "/")
    if not where.include_private:
        conditions.add("NOT c.private")
    conditions.add("c.confidence >= $least", least=float(where.min_confidence))
    _add_times(conditions, where)
    return conditions


def _add_times(conditions: Conditions, where: ChunkFilter) -> None:
    if where.happened_from is not None:
        conditions.add("c.happened_at >= $happened_from", happened_from=where.happened_from)
    if where.happened_to is not None:
        conditions.add("c.happened_at <= $happened_to", happened_to=where.happened_to)
    if where.at is not None:
        conditions.add("(c.expires_at IS NULL OR $at < c.expires_at)")
    conditions.valid(where.at)
    conditions.known(where.known_at)
