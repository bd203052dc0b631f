"""Vectors as lines: an id and the float32 values in base64, in the order of the rows they belong to."""

import base64
import binascii
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from hydramem.core.errors import InvalidInputError
from hydramem.storage.exchange.json_lines import check_id, json_line, refused, values_of
from hydramem.storage.vector_rows import Vector, checked_vector

_KIND = np.dtype("<f4")


def vector_line(id: str, vector: Vector) -> bytes:
    """Write a vector as a line."""
    held = np.ascontiguousarray(vector, dtype=_KIND).tobytes()
    return json_line({"id": id, "vector": base64.b64encode(held).decode("ascii")})


def vectors_of(file: Path, dimension: int) -> Iterator[tuple[int, str, Vector]]:
    """Yield the number, id and vector of each line.

    Args:
        file: A dump's file of vectors.
        dimension: Length that each must have.

    Raises:
        InvalidInputError: A line is not a vector; the message names file and line.
    """
    for number, values in values_of(file):
        try:
            id, vector = _read(values, dimension)
        except ValueError as error:
            raise refused(file, number, str(error)) from error
        yield number, id, vector


def _read(values: dict[str, Any], dimension: int) -> tuple[str, Vector]:
    id, held = values.get("id"), values.get("vector")
    if len(values) != 2 or not isinstance(id, str) or not isinstance(held, str):
        raise InvalidInputError("expected an object with `id` and `vector`")
    check_id(id)
    try:
        data = base64.b64decode(held, validate=True)
    except binascii.Error as error:
        raise InvalidInputError(f"vector: not base64: {error}") from error
    if len(data) != dimension * _KIND.itemsize:
        raise InvalidInputError(
            f"vector: {len(data)} bytes, not {dimension} numbers of {_KIND.itemsize} bytes"
        )
    return id, checked_vector(np.frombuffer(data, dtype=_KIND).astype(np.float32), dimension, name=id)


class VectorsInStep:
    """Vectors read beside the rows that they belong to, as both are sorted by id.

    Args:
        file: A dump's file of vectors; None where there is none.
        dimension: Length of each.
    """

    def __init__(self, file: Path | None, dimension: int) -> None:
        self._left = iter(()) if file is None else vectors_of(file, dimension)
        self._next = next(self._left, None)

    def of(self, ids: Sequence[str]) -> Mapping[str, Vector]:
        """Return the vectors of rows, which are later ones than were asked for before."""
        wanted, found = set(ids), dict[str, Vector]()
        last = max(ids, default="")
        while self._next is not None and self._next[1] <= last:
            _, id, vector = self._next
            if id in wanted:
                found[id] = vector
            self._next = next(self._left, None)
        return found
