"""Finds erased things in texts and JSON values: by their ids, by their words, and by names.

Words are compared without case and punctuation. A text has a trace where it shares six words in a row with an
erased text, where it is itself a part of three words or more of one, or where it holds a short one whole.
"""

import json
import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator
from typing import Any

Words = tuple[str, ...]
_RUN = 6
_LEAST = 3
_ID = re.compile(r"[a-z]_[0-9a-f]{32}")

# Scripts without spaces between words: each character counts as one.
_WORD = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]|[^\W\u3040-\u30ff\u3400-\u9fff]+")
_OWN_COLUMNS = frozenset({"text", "summary", "heading_path", "keywords"})
"""Columns that are the content of a chunk: they go with it, and a chunk that stays keeps them."""


class _Gone:
    """Stands for a value that is left out."""


_GONE = _Gone()


class Traces:
    """The ids, texts and names of what is erased.

    Args:
        ids: Of rows.
        texts: Texts of memories and passages.
        names: Names of entities, which count as traces wherever they stand.
    """

    def __init__(self, ids: Collection[str], texts: Iterable[str] = (), names: Iterable[str] = ()) -> None:
        self._ids = frozenset(ids)
        self._runs: set[int] = set()
        self._whole: set[Words] = set()
        self._within: dict[str, list[Words]] = defaultdict(list)
        for text in texts:
            self._add_text(_words(text))
        for name in names:
            if words := _words(name):
                self._within[words[0]].append(words)

    def _add_text(self, words: Words) -> None:
        for length in range(_LEAST, _RUN + 1):
            self._runs.update(map(hash, _runs_of(words, length)))
        if len(words) < _LEAST:
            self._whole.add(words)
        elif len(words) < _RUN:
            self._within[words[0]].append(words)

    def in_text(self, text: str) -> bool:
        """Say whether a text has a trace of an erased one, or an erased id."""
        if "_" in text and not self._ids.isdisjoint(_ID.findall(text)):
            return True
        words = _words(text) if self._runs or self._whole or self._within else ()
        if not words:
            return False
        if any(hash(run) in self._runs for run in _runs_of(words, _RUN)):
            return True
        if words in self._whole or (_LEAST <= len(words) < _RUN and hash(words) in self._runs):
            return True
        return any(
            words[place : place + len(one)] == one
            for place, word in enumerate(words)
            if word in self._within
            for one in self._within[word]
        )

    def in_value(self, value: object) -> bool:
        """Say whether a text within a JSON value has a trace."""
        return any(self.in_text(text) for text in _texts_in(value))

    def scrubbed(self, text: str | None) -> str | None:
        """Return JSON text without the values that have traces; None where nothing is left.

        A row that is erased goes whole; of another row goes what has a trace, but not a chunk's own words.
        """
        if text is None:
            return None
        value = json.loads(text)
        left = self._scrubbed(value)
        if left is _GONE:
            return None
        return text if left == value else json.dumps(left, ensure_ascii=False, sort_keys=True)

    def _scrubbed(self, value: Any) -> Any:
        match value:
            case str():
                return _GONE if self.in_text(value) else value
            case list():
                return [left for item in value if (left := self._scrubbed(item)) is not _GONE]
            case dict():
                return self._scrubbed_row(value)
            case _:
                return value

    def _scrubbed_row(self, row: dict[str, Any]) -> Any:
        if str(row.get("id")) in self._ids:
            return _GONE
        own = _OWN_COLUMNS if "kind" in row else frozenset[str]()
        left = {name: value if name in own else self._scrubbed(value) for name, value in row.items()}
        return {name: value for name, value in left.items() if value is not _GONE and not self.in_text(name)}

    def scrubbed_image(self, text: str | None) -> str | None:
        """Return an image (`storage.undo.row_images`) without the rows that have traces."""
        if text is None:
            return None
        image = json.loads(text)
        left = {
            part: {name: kept for name, rows in tables.items() if (kept := self._scrubbed_rows(rows))}
            for part, tables in image.items()
        }
        if left == image:
            return text
        left = {part: tables for part, tables in left.items() if tables}
        return json.dumps(left, separators=(",", ":"), sort_keys=True) if left else None

    def _scrubbed_rows(self, rows: list[Any]) -> list[Any]:
        return [row for row in rows if not self.in_value(_without_own_words(row))]


def _without_own_words(row: Any) -> Any:
    """Return a row of an image without the columns that are a chunk's own content."""
    if isinstance(row, list) and row and isinstance(row[-1], dict):
        if str(row[0]).startswith("c_") and len(row) == 3:
            kept = {name: value for name, value in row[-1].items() if name not in _OWN_COLUMNS}
            return [*row[:-1], kept]
    elif isinstance(row, dict) and "kind" in row:
        return {name: value for name, value in row.items() if name not in _OWN_COLUMNS}
    return row


def _words(text: str) -> Words:
    return tuple(_WORD.findall(text.casefold()))


def _runs_of(words: Words, length: int) -> Iterator[Words]:
    return (words[start : start + length] for start in range(len(words) - length + 1))


def _texts_in(value: object) -> Iterator[str]:
    match value:
        case str():
            yield value
        case dict():
            for name, inner in value.items():
                yield str(name)
                yield from _texts_in(inner)
        case list() | tuple():
            for inner in value:
                yield from _texts_in(inner)
        case _:
            return
