"""Reads JSON of any size value by value: lines, or the elements of an array; a broken value is skipped."""

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO, Any

from hydramem.core.results.exchange_results import SkippedRecord
from hydramem.ingest.documents.formats.decode import clean
from hydramem.ingest.documents.formats.document_text import one_line
from hydramem.ingest.imports.records import Meter

MOST_BYTES = 64 * 2**20
"""Most bytes of one value."""

_PIECE = 2**20
_MARK = b"\xef\xbb\xbf"

# A bracket, or a string; the group matches where what was read so far ends within the string.
_TOKEN = re.compile(rb'"(?:[^"\\]++|\\.)*+(?:"|(\\?\Z))|[\[\]{}]', re.DOTALL)
_START = re.compile(rb"[^\s,]")
_SCALAR = re.compile(rb"[^,\]\s]*")

_OPENING = (b"{", b"[")
_CLOSING = {b"}": b"{", b"]": b"["}

Value = Mapping[str, Any] | SkippedRecord
"""A JSON object, or why it could not be read."""


def plain_text(value: object) -> str:
    """Return text that every store accepts; empty where the value is none."""
    return clean(value).strip() if isinstance(value, str) else ""


def plain_name(value: object) -> str:
    """Return a text on one line; empty where the value is none."""
    return one_line(plain_text(value))


def plain_names(value: object) -> tuple[str, ...]:
    """Return the texts of a list, or of JSON text that holds a list, each on one line and once."""
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            return ()
    names = (plain_name(each) for each in value) if isinstance(value, list) else ()
    return tuple(dict.fromkeys(name for name in names if name))


def read_lines(path: Path, meter: Meter) -> Iterator[tuple[str, Value]]:
    """Yield the object of each line with its place; blank lines are passed over.

    Raises:
        OSError: The file cannot be read.
    """
    meter.total = path.stat().st_size
    with path.open("rb") as file:
        number = 0
        while line := file.readline(MOST_BYTES + 1):
            number += 1
            meter.done += len(line)
            place = f"{path.name}, line {number}"
            if len(line) > MOST_BYTES:
                while line and not line.endswith(b"\n"):
                    line = file.readline(_PIECE)
                    meter.done += len(line)
                yield place, _too_large(place)
            elif line.removeprefix(_MARK).strip():
                yield place, _object(line.removeprefix(_MARK) if number == 1 else line, place)


def read_elements(file: IO[bytes], name: str) -> Iterator[tuple[str, Value]]:
    """Yield the object of each element of a JSON array with its place, holding one at a time in memory.

    Args:
        file: Is read to the end of the array.
        name: What its records are called, such as the file's name.

    Raises:
        OSError: The file cannot be read.
    """
    elements = _Elements(file)
    if elements.opening() != b"[":
        yield name, SkippedRecord(place=name, reason="is not a JSON array")
        return
    number = 0
    while (first := elements.next_byte()) not in (b"]", b""):
        number += 1
        place = f"{name}, record {number}"
        data = elements.take(nested=first in (b"{", b"["))
        if data is None:
            why = "is cut off, or over 64 MB; nothing after it is read"
            yield place, SkippedRecord(place=place, reason=why)
            return
        yield place, _object(data, place)
    if not first:
        yield name, SkippedRecord(place=name, reason=f"the file ends after record {number}, before its array")


def read_whole(path: Path, meter: Meter) -> Any:
    """Return the JSON value of a file.

    Raises:
        OSError: The file cannot be read.
        ValueError: It is over the limit, or no JSON.
    """
    with path.open("rb") as file:
        data = file.read(MOST_BYTES + 1)
    meter.done = meter.total = len(data)
    if len(data) > MOST_BYTES:
        raise ValueError(_too_large(path.name).reason)
    try:
        return json.loads(data.removeprefix(_MARK))
    except RecursionError as error:
        raise ValueError("is nested too deeply") from error


def _object(data: bytes, place: str) -> Value:
    try:
        value = json.loads(data)
    except (ValueError, RecursionError) as error:
        return SkippedRecord(place=place, reason=f"is no JSON: {str(error)[:200]}")
    if isinstance(value, dict):
        return value
    return SkippedRecord(place=place, reason=f"expected an object, found {type(value).__name__}")


def _too_large(place: str) -> SkippedRecord:
    return SkippedRecord(place=place, reason=f"is over {MOST_BYTES // 2**20} MB")


class _Elements:
    """An array that is being read: what is read and not taken yet."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._data = bytearray()
        self._at = 0

    def opening(self) -> bytes:
        """Take the first byte that is no white space."""
        self._more()
        if self._data.startswith(_MARK):
            self._at = len(_MARK)
        first = self.next_byte()
        self._at += 1
        return first

    def next_byte(self) -> bytes:
        """Return the byte at which the next element begins, or the array ends; empty at the file's end."""
        while (found := _START.search(self._data, self._at)) is None:
            self._at = len(self._data)
            if not self._more():
                return b""
        self._at = found.start()
        return found.group()

    def take(self, *, nested: bool) -> bytes | None:
        """Take the element that begins here; None where it has no end, or is too large."""
        end = self._end_of_nested() if nested else self._end_of_scalar()
        if end is None:
            return None
        data, self._at = bytes(self._data[self._at : end]), end
        return data

    def _end_of_nested(self) -> int | None:
        opened = bytearray()
        seen = 0  # counts from where the element begins, which moves
        while len(self._data) - self._at <= MOST_BYTES:
            cut = len(self._data)
            for token in _TOKEN.finditer(self._data, self._at + seen):
                if token.group(1) is not None:
                    cut = token.start()
                    break
                if (bracket := token.group()) in _OPENING:
                    opened += bracket
                elif bracket in _CLOSING and not _closed(opened, _CLOSING[bracket]):
                    return token.end() if not opened else token.start()
            seen = cut - self._at
            if not self._more():
                return None
        return None

    def _end_of_scalar(self) -> int | None:
        while len(self._data) - self._at <= MOST_BYTES:
            pattern = _TOKEN if self._data[self._at : self._at + 1] == b'"' else _SCALAR
            found = pattern.match(self._data, self._at)
            if found and found.end() < len(self._data):
                return max(found.end(), self._at + 1)
            if not self._more():
                return None
        return None

    def _more(self) -> bool:
        """Read on, as much again as is held; say whether there was anything."""
        del self._data[: self._at]
        self._at = 0
        piece = self._file.read(max(_PIECE, len(self._data)))
        self._data += piece
        return bool(piece)


def _closed(opened: bytearray, bracket: bytes) -> bool:
    """Close the last bracket of a kind, and what was left open in it; say whether the element goes on.

    A broken element ends where its own bracket closes, or else before the bracket that closes the array.
    """
    last = opened.rfind(bracket)
    if last >= 0:
        del opened[last:]
    return last >= 0 and bool(opened)
