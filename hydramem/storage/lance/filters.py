"""Filters of LanceDB: SQL text, built from typed values by one quoting function."""

import math
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from hydramem.storage.cached_rows.row_arrays import microseconds
from hydramem.storage.chunk_filter import ChunkFilter
from hydramem.storage.vector_rows import storable

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_NOTHING = "false"


def moment(stored: int) -> datetime:
    """Return the moment that the store keeps as a number."""
    return _EPOCH + timedelta(microseconds=stored)


def literal(value: str | bool | int | float | datetime) -> str:
    """Quote a typed value as an SQL literal. Every value that enters a filter passes here.

    In LanceDB's dialect a quoted string has one special character, the quote, which is doubled.
    """
    match value:
        case bool():
            return "true" if value else "false"
        case str():
            return "'" + value.replace("'", "''") + "'"
        case datetime():
            return str(microseconds(value))
        case _:
            return repr(value)


def ids_predicate(ids: Sequence[str]) -> str:
    """Return the filter that admits rows by id."""
    return _any_of("id", ids)


def chunk_predicate(where: ChunkFilter) -> str | None:
    """Return the filter that admits what `ChunkFilter.admits` does; None where it admits everything."""
    conditions = [_any_of(column, values) for column, values in where.allowed.items() if values]
    if where.categories:
        conditions.append(_shares_one("categories", where.categories))
    if where.scope is not None:
        conditions.append(_within("scope", where.scope))
    if not where.include_private:
        conditions.append("private = false")
    if not where.min_confidence <= 0.0:
        conditions.append(_at_least("confidence", where.min_confidence))
    conditions.extend(_moments(where))
    return " AND ".join(conditions) if conditions else None


def project_predicate(projects: Sequence[str]) -> str | None:
    """Return the filter that admits rows of these projects; None where that is all."""
    return _any_of("project", projects) if projects else None


def _literals(values: Sequence[str]) -> str:
    # A value that no row can hold admits nothing.
    return ", ".join(literal(value) for value in dict.fromkeys(values) if storable(value))


def _any_of(column: str, values: Sequence[str]) -> str:
    literals = _literals(values)
    return f"{column} IN ({literals})" if literals else _NOTHING


def _shares_one(column: str, values: Sequence[str]) -> str:
    literals = _literals(values)
    return f"array_has_any({column}, [{literals}])" if literals else _NOTHING


def _within(column: str, prefix: str) -> str:
    # starts_with takes its prefix literally; LIKE would give meaning to % and _.
    stem = prefix.rstrip("/")
    if not storable(stem):
        return _NOTHING
    return f"({column} = {literal(stem)} OR starts_with({column}, {literal(stem + '/')}))"


def _at_least(column: str, least: float) -> str:
    return f"{column} >= {literal(float(least))}" if math.isfinite(least) else _NOTHING


def _moments(where: ChunkFilter) -> list[str]:
    conditions = []
    if where.happened_from is not None:
        conditions.append(f"happened_at >= {literal(where.happened_from)}")
    if where.happened_to is not None:
        conditions.append(f"happened_at <= {literal(where.happened_to)}")
    if where.at is not None:
        conditions += [_begun("valid_from", where.at), _not_over("valid_to", where.at)]
        conditions.append(_not_over("expires_at", where.at))
    if where.known_at is not None:
        conditions += [_begun("recorded_at", where.known_at), _not_over("retired_at", where.known_at)]
    return conditions


def _begun(column: str, moment: datetime) -> str:
    return f"({column} IS NULL OR {column} <= {literal(moment)})"


def _not_over(column: str, moment: datetime) -> str:
    return f"({column} IS NULL OR {column} > {literal(moment)})"
