"""One row, or one vector, as one line of JSON and back; errors name the file and the line."""

import base64
import binascii
import json
import types
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import MISSING, dataclass, fields
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any, Generic, Literal, NoReturn, TypeVar, Union, get_args, get_origin, get_type_hints

import numpy as np

from hydramem.core.argument_checks import check_project
from hydramem.core.errors import InvalidInputError
from hydramem.core.row_types import Relation, Times
from hydramem.storage.exchange.manifest import DumpPart
from hydramem.storage.row_codec import encode
from hydramem.storage.schema import (
    CHUNK,
    DOCUMENT,
    ENTITY,
    ITEM,
    RELATES,
    SESSION,
    ColumnKind,
    EdgeTable,
    NodeTable,
)
from hydramem.storage.vector_rows import Vector, checked_vector

MOST_BYTES = 256 * 2**20
"""Longest line that is read."""
_MOST_ID = 200
_OWNED = (DOCUMENT, SESSION, ENTITY, CHUNK, ITEM, RELATES)
"""Tables whose rows lie in a project, whose name other folders are named after."""
_TIMES = "times"

# Vectors are base64 of their values.
_FLOATS = np.dtype("<f4")
K = TypeVar("K", str, tuple[Any, ...])
V = TypeVar("V")
_PLAIN = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"))

# For metadata with lone surrogates: JSON can hold them escaped, UTF-8 not at all.
_ESCAPED = json.JSONEncoder(ensure_ascii=True, allow_nan=False, separators=(",", ":"))


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


_READER = json.JSONDecoder(parse_constant=_no_constant)


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """A field of a row as a line holds it.

    Attributes:
        choices: The only values it may have; empty where any is allowed.
        timed: Whether it is one of the row's four times.
    """

    name: str
    kind: ColumnKind
    required: bool
    nullable: bool
    choices: frozenset[str] = frozenset()
    timed: bool = False


@cache
def fields_of(table: NodeTable | EdgeTable) -> tuple[Field, ...]:
    """Return the fields of a table's lines: those of the row, and after them its four times."""
    kinds: dict[str, ColumnKind] = {column.name: column.kind for column in table.columns}
    if isinstance(table, EdgeTable):
        kinds.update(dict.fromkeys(table.ends, "text"))
    hints = {row: get_type_hints(row) for row in (table.row, Times)}
    return tuple(
        _field(item, hints[row][item.name], kinds[item.name], timed=row is Times)
        for row in (table.row, Times)
        for item in fields(row)
        if item.name in kinds
    )


def _field(item: Any, hint: Any, kind: ColumnKind, *, timed: bool) -> Field:
    nullable = get_origin(hint) in (Union, types.UnionType)
    inner = next(part for part in get_args(hint) if part is not type(None)) if nullable else hint
    return Field(
        name=item.name,
        kind=kind,
        required=item.default is MISSING and item.default_factory is MISSING,
        nullable=nullable,
        choices=frozenset(get_args(inner)) if get_origin(inner) is Literal else frozenset(),
        timed=timed,
    )


def to_line(table: NodeTable | EdgeTable, row: Any) -> bytes:
    """Write a row as a line: its fields by name in their order, those that are null left out."""
    values: dict[str, object] = {}
    for item in fields_of(table):
        value = getattr(row.times if item.timed else row, item.name)
        if value is not None:
            values[item.name] = _json_value(item.kind, value)
    return json_line(values)


def json_line(values: dict[str, object]) -> bytes:
    """Write values as a line of UTF-8."""
    try:
        return _PLAIN.encode(values).encode() + b"\n"
    except UnicodeEncodeError:
        return _ESCAPED.encode(values).encode() + b"\n"


def _json_value(kind: ColumnKind, value: Any) -> object:
    match kind:
        case "time":
            return time_text(value)
        case "texts":
            return list(value)
        case "json":
            return dict(value)
        case _:
            return value


def time_text(moment: datetime) -> str:
    """Write a moment as ISO 8601 in UTC with microseconds."""
    return moment.astimezone(UTC).replace(tzinfo=None).isoformat(timespec="microseconds") + "Z"


def from_values(part: DumpPart, values: dict[str, Any]) -> Any:
    """Make a row of the values of a line.

    Raises:
        ValueError: A field is unknown, missing or of the wrong kind, or no store can hold it.
    """
    row: dict[str, Any] = {}
    times: dict[str, Any] = {}
    known = fields_of(part.table)
    for item in known:
        value = values.get(item.name)
        if value is not None:
            (times if item.timed else row)[item.name] = _read(item, value)
        elif item.nullable:
            (times if item.timed else row)[item.name] = None
        elif item.required or item.name in values:
            raise ValueError(f"{item.name}: is missing")
    if unknown := values.keys() - {item.name for item in known}:
        raise ValueError(
            f"{min(unknown)[:80]!r} is no field of {part.name}; a newer version may have written it"
        )
    if times:
        row[_TIMES] = Times(**times)
    made = part.table.row(**row)
    _check(part, made)
    return made


def _read(item: Field, value: Any) -> Any:
    try:
        read = _column_value(item.kind, value)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{item.name}: {error}") from error
    if item.choices and read not in item.choices:
        raise ValueError(f"{item.name}: {str(read)[:40]!r} is none of {', '.join(sorted(item.choices))}")
    return read


def _check(part: DumpPart, row: Any) -> None:
    for part_of_key in part.order(row):
        if isinstance(part_of_key, str):
            check_id(part_of_key)
    if part.table in _OWNED and check_project(row.project) != row.project:
        raise ValueError(f"project: {row.project[:80]!r} has blanks around it")
    if isinstance(row, Relation):
        for name, score in row.scores.items():
            _read(Field(name=f"scores.{name[:40]}", kind="number", required=True, nullable=False), score)
    encode(part.table, row)


def check_id(id: str) -> None:
    """Raise ValueError where an id is blank, too long, or holds what no id holds."""
    if not id or len(id) > _MOST_ID or not id.isprintable() or id != id.strip():
        raise ValueError(f"{id[:40]!r} is no id")


_EXPECTED: Mapping[ColumnKind, tuple[tuple[type, ...], str]] = {
    "text": ((str,), "text"),
    "texts": ((list,), "a list of texts"),
    "json": ((dict,), "an object"),
    "time": ((str,), "text"),
    "number": ((int, float), "a number"),
    "integer": ((int,), "a whole number"),
    "flag": ((bool,), "true or false"),
}
"""The types that JSON must have for a kind of column, and their name in messages."""


def _column_value(kind: ColumnKind, value: Any) -> Any:
    """Return a value of a line as rows have it."""
    expected, name = _EXPECTED[kind]
    fits = isinstance(value, expected) and (kind == "flag" or not isinstance(value, bool))
    if not fits:
        raise TypeError(f"expected {name}, got {_short_repr(value)}")
    match kind:
        case "texts":
            return tuple(_column_value("text", each) for each in value)
        case "time":
            return _time(value)
        case "number":
            return _number(value)
        case _:
            return value


def _time(text: str) -> datetime:
    try:
        moment = datetime.fromisoformat(text)
        if moment.tzinfo is None:
            raise ValueError("no time zone")
        return moment.astimezone(UTC)
    except (ValueError, OverflowError) as error:
        raise ValueError(f"{text[:40]!r} is not an ISO 8601 time with a zone") from error


def _number(value: float) -> float:
    try:
        return float(value)
    except OverflowError as error:
        raise ValueError("the number is too large") from error


def _short_repr(value: object) -> str:
    return repr(value)[:40]


def rows_of(part: DumpPart, folder: Path) -> Iterator[tuple[int, Any]]:
    """Yield the number and row of each line of a part's file.

    Raises:
        InvalidInputError: A line is not a row; the message names file and line.
    """
    for number, values in values_of(folder / part.file):
        try:
            row = from_values(part, values)
        except (ValueError, RecursionError) as error:
            raise refused(folder / part.file, number, str(error)) from error
        yield number, row


def values_of(file: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the number and object of each line of a file.

    Raises:
        InvalidInputError: A line is too long or not a JSON object; the message names file and line.
    """
    with file.open("rb") as lines:
        number = 0
        while line := lines.readline(MOST_BYTES + 1):
            number += 1
            yield number, _object(line, file, number)


def _object(line: bytes, file: Path, number: int) -> dict[str, Any]:
    if len(line) > MOST_BYTES:
        raise refused(file, number, f"longer than {MOST_BYTES:,} bytes")
    if not line.endswith(b"\n"):
        raise refused(file, number, "ends in the middle: the dump is truncated")
    try:
        values = _READER.decode(line.decode("utf-8"))
    except UnicodeDecodeError as error:
        raise refused(file, number, f"not UTF-8 at byte {error.start}") from error
    except (ValueError, RecursionError) as error:
        raise refused(file, number, f"not JSON: {str(error)[:200]}") from error
    if not isinstance(values, dict):
        raise refused(file, number, f"expected a JSON object, got {_short_repr(values)}")
    return values


def refused(file: Path, number: int, why: str) -> InvalidInputError:
    """Return the error for a line that cannot be taken."""
    return InvalidInputError(f"{file}, line {number}: {why}")


def vector_line(id: str, vector: Vector) -> bytes:
    """Write a vector as a line."""
    held = np.ascontiguousarray(vector, dtype=_FLOATS).tobytes()
    return json_line({"id": id, "vector": base64.b64encode(held).decode("ascii")})


def vectors_of(file: Path, dimension: int) -> Iterator[tuple[int, str, Vector]]:
    """Yield the number, id and vector of each line of a file of vectors.

    Args:
        file: A dump's file of vectors.
        dimension: Length that each must have.

    Raises:
        InvalidInputError: A line is not a vector; the message names file and line.
    """
    for number, values in values_of(file):
        try:
            id, vector = _read_vector(values, dimension)
        except ValueError as error:
            raise refused(file, number, str(error)) from error
        yield number, id, vector


def _read_vector(values: dict[str, Any], dimension: int) -> tuple[str, Vector]:
    id, held = values.get("id"), values.get("vector")
    if len(values) != 2 or not isinstance(id, str) or not isinstance(held, str):
        raise InvalidInputError("expected an object with `id` and `vector`")
    check_id(id)
    try:
        data = base64.b64decode(held, validate=True)
    except binascii.Error as error:
        raise InvalidInputError(f"vector: not base64: {error}") from error
    if len(data) != dimension * _FLOATS.itemsize:
        raise InvalidInputError(
            f"vector: {len(data)} bytes, not {dimension} numbers of {_FLOATS.itemsize} bytes"
        )
    return id, checked_vector(np.frombuffer(data, dtype=_FLOATS).astype(np.float32), dimension, name=id)


class SortedLookup(Generic[K, V]):
    """Looks keys up in sorted pairs that are read once, as far as the keys have come.

    Args:
        pairs: Keys and values, sorted by key.
    """

    def __init__(self, pairs: Iterable[tuple[K, V]]) -> None:
        self._pairs: Iterator[tuple[K, V]] = iter(pairs)
        self._next: tuple[K, V] | None = next(self._pairs, None)

    def of(self, keys: Sequence[K]) -> dict[K, V]:
        """Return the values of keys that are sorted, and greater than those of earlier calls."""
        wanted, found = set(keys), dict[K, V]()
        while self._next is not None and self._next[0] <= keys[-1]:
            key, value = self._next
            if key in wanted:
                found[key] = value
            self._next = next(self._pairs, None)
        return found
