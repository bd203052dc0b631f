"""How rows become columns and back, refusing what no store can hold; every graph store uses this one way."""

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields as fields_of
from datetime import UTC, datetime
from functools import cache
from typing import Any

from hydramem.core.errors import InvalidInputError
from hydramem.core.row_types import Times
from hydramem.storage.schema import Column, ColumnKind, EdgeTable, Table

Values = dict[str, Any]
_TIMES = frozenset(Times.__dataclass_fields__)
_INTEGERS = range(-(2**63), 2**63)


def encode(table: Table, row: object) -> Values:
    """Turn a row into plain values by column: UTC times without a zone, metadata as JSON text.

    Raises:
        InvalidInputError: A value cannot be stored: text with NUL or lone surrogates, a time without
            a zone, a number that is not finite or too large. The message names table, id and field.
    """
    values: Values = {}
    if isinstance(table, EdgeTable):
        values["_from"], values["_to"] = (getattr(row, end) for end in table.ends)
    for column in table.columns:
        try:
            values[column.name] = _ENCODERS[column.kind](column_value(row, column.name))
        except (ValueError, TypeError, OverflowError, RecursionError) as error:
            place = f"{table.row.__name__} {getattr(row, 'id', '')!r}: {column.name}"
            raise InvalidInputError(f"{place}: {error}") from error
    return values


def column_value(row: Any, column: str) -> Any:
    """Return what a row has in a column: the four times are in `row.times`."""
    return getattr(row.times if column in _TIMES else row, column)


def _encode_text(value: str | None) -> str | None:
    if value is None:
        return None
    if "\0" in value:
        raise ValueError("holds a NUL character")
    if not value.isascii():
        value.encode("utf-8")  # raises a ValueError that names the lone surrogate
    return str(value)


def _encode_texts(values: Sequence[str]) -> list[str]:
    return [str(_encode_text(value)) for value in values]


def _encode_json(value: Mapping[str, object]) -> str:
    return json.dumps(dict(value), allow_nan=False)


def _encode_time(value: datetime | None) -> datetime | None:
    if value is None:
        return None
    if value.tzinfo is None:
        raise ValueError(f"{value} has no time zone")
    return value.astimezone(UTC).replace(tzinfo=None)


def _encode_number(value: float | None) -> float | None:
    if value is None:
        return None
    if not math.isfinite(value):
        raise ValueError(f"{value} is not a finite number")
    return float(value)


def _encode_integer(value: int) -> int:
    if value not in _INTEGERS:
        raise ValueError(f"{value} does not fit 64 bits")
    return int(value)


_ENCODERS: dict[ColumnKind, Callable[[Any], object]] = {
    "text": _encode_text,
    "texts": _encode_texts,
    "json": _encode_json,
    "time": _encode_time,
    "number": _encode_number,
    "integer": _encode_integer,
    "flag": bool,
}


def decode(table: Table, values: Sequence[Any]) -> Any:
    """Turn stored values, in the order of `names`, back into the table's row."""
    fields: Values = {}
    times: Values = {}
    if isinstance(table, EdgeTable):
        fields.update(zip(table.ends, values[:2], strict=True))
        values = values[2:]
    nested = _has_times(table.row)
    for column, value in zip(table.columns, values, strict=True):
        target = times if nested and column.name in _TIMES else fields
        target[column.name] = _decode_value(column, value)
    if nested:
        fields["times"] = Times(**times)
    return table.row(**fields)


@cache
def _has_times(row: type) -> bool:
    return any(field.name == "times" for field in fields_of(row))


def _decode_value(column: Column, value: Any) -> Any:
    match column.kind:
        case "texts":
            return tuple(value or ())
        case "json":
            return json.loads(value)
        case "time":
            return None if value is None else value.replace(tzinfo=UTC)
        case _:
            return value


def normalise(table: Table, row: Any) -> Any:
    """Return a row as it will read back once stored.

    Raises:
        InvalidInputError: A value cannot be stored.
    """
    return decode(table, tuple(encode(table, row).values()))
