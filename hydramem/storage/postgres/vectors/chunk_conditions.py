"""Filters in PostgreSQL: conditions with parameters, which admit what `ChunkFilter.admits` does."""

import math
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from hydramem.storage.chunk_filter import ChunkFilter
from hydramem.storage.postgres.vectors.stored_text import escaped, findable
from hydramem.storage.vector_rows import storable

_NOTHING = "false"


def stored_time(moment: datetime | None) -> datetime | None:
    """Return a moment as the tables hold it: UTC without a zone."""
    return None if moment is None else moment.astimezone(UTC).replace(tzinfo=None)


def chunk_conditions(where: ChunkFilter) -> tuple[str, dict[str, Any]]:
    """Return the condition on a row `c` of the chunks, and its parameters by name."""
    conditions, values = ["true"], dict[str, Any]()
    for column, allowed in where.allowed.items():
        if allowed:
            conditions.append(_any_of(column, allowed, values))
    if where.categories:
        values["categories"] = findable(where.categories)
        conditions.append("c.categories && %(categories)s::text[]")
    if where.scope is not None:
        conditions.append(_within(where.scope, values))
    if not where.include_private:
        conditions.append("not c.private")
    if not where.min_confidence <= 0.0:
        values["confidence"] = float(where.min_confidence)
        # NaN is above every number in SQL and below none in Python.
        conditions.append(
            "c.confidence >= %(confidence)s" if math.isfinite(where.min_confidence) else _NOTHING
        )
    conditions += _times(where, values)
    return " and ".join(conditions), values


def _any_of(column: str, allowed: Sequence[str], values: dict[str, Any]) -> str:
    values[column] = findable(allowed)
    return f"c.{column} = any(%({column})s::text[])"


def _within(prefix: str, values: dict[str, Any]) -> str:
    # starts_with takes its prefix literally; LIKE would give meaning to % and _.
    stem = prefix.rstrip("/")
    if not storable(stem):
        return _NOTHING
    values |= {"scope": escaped(stem), "under": escaped(stem) + "/"}
    return "(c.scope = %(scope)s or starts_with(c.scope, %(under)s))"


def _times(where: ChunkFilter, values: dict[str, Any]) -> list[str]:
    conditions = []
    if where.happened_from is not None:
        conditions.append("c.happened_at >= %(happened_from)s::timestamp")
    if where.happened_to is not None:
        conditions.append("c.happened_at <= %(happened_to)s::timestamp")
    if where.at is not None:
        conditions += [_begun("valid_from", "at"), _not_over("valid_to", "at"), _not_over("expires_at", "at")]
    if where.known_at is not None:
        conditions += [_begun("recorded_at", "known_at"), _not_over("retired_at", "known_at")]
    for name in ("happened_from", "happened_to", "at", "known_at"):
        values[name] = stored_time(getattr(where, name))
    return conditions


def _begun(column: str, moment: str) -> str:
    return f"(c.{column} is null or c.{column} <= %({moment})s::timestamp)"


def _not_over(column: str, moment: str) -> str:
    return f"(c.{column} is null or c.{column} > %({moment})s::timestamp)"
