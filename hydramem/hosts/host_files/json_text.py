"""Read JSON with comments and trailing commas into values that know where they stand in the text.

Editing by position leaves all else as it is: comments, order, indentation, line ends. The maintained
libraries for JSON with comments write the whole text anew.
"""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from hydramem.core.errors import InvalidInputError

MOST_LEVELS = 200
"""Objects and arrays inside each other; files of settings have ten."""

_TOKEN = re.compile(
    r"(?P<space>[ \t\r\n]++)"
    r"|(?P<comment>//[^\r\n]*+|/\*(?s:.*?)\*/)"
    r'|(?P<string>"(?:[^"\\\x00-\x1f]++|\\[^\x00-\x1f])*+")'
    r"|(?P<mark>[{}\[\]:,])"
    r"|(?P<word>-?(?:0|[1-9][0-9]*+)(?:\.[0-9]++)?(?:[eE][+-]?[0-9]++)?|true|false|null)(?![\w.+-])"
)

Step = str | int
"""One step of a path: the key of a member, or the place of an element."""


@dataclass(frozen=True, slots=True)
class JsonItem:
    """A member of an object, or an element of an array.

    Attributes:
        key: Its key; None in an array.
        start: Where it starts: at its key, where it has one.
        before: Where the last mark, value or comment before it ends.
        comma: Where the comma after it stands, if there is one.
    """

    key: str | None
    start: int
    before: int
    comma: int | None
    value: "JsonValue"


@dataclass(frozen=True, slots=True)
class JsonValue:
    """A value of the text.

    Attributes:
        start, end: Its characters.
        data: The value in Python types.
        items: What an object or array holds.
        content_end: Where the last mark, item or comment before the closing bracket ends.
    """

    kind: Literal["object", "array", "plain"]
    start: int
    end: int
    data: object
    items: tuple[JsonItem, ...] = ()
    content_end: int = 0

    def find(self, path: Sequence[Step]) -> "JsonValue | None":
        """Return the value at a path, or None.

        Raises:
            InvalidInputError: A key on the way stands twice.
        """
        value: JsonValue | None = self
        for step in path:
            if value is None:
                return None
            item = value.item(step)
            value = None if item is None else item.value
        return value

    def item(self, step: Step) -> JsonItem | None:
        """Return the item at a key or a place, or None.

        Raises:
            InvalidInputError: The key stands twice.
        """
        if isinstance(step, int):
            return self.items[step] if self.kind == "array" and step < len(self.items) else None
        found = [item for item in self.items if item.key == step]
        if len(found) > 1:
            raise InvalidInputError(f"the key {step!r} stands twice")
        return found[0] if found else None


def read_json(text: str) -> JsonValue:
    """Read a text of JSON, in which comments and trailing commas are allowed.

    Raises:
        InvalidInputError: It is none; the message names the line.
    """
    return _JsonReader(text).read()


class _JsonReader:
    """Reads one text, token after token."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._before = 0  # where the last token before the present one ends, comments included
        self._kind, self._start, self._end = "start", 0, int(text.startswith("\ufeff"))
        self._tokens = self._scan()
        self._advance()

    def read(self) -> JsonValue:
        value = self._value(0)
        if self._kind != "end":
            raise self._refusal("nothing more")
        return value

    def _scan(self) -> Iterator[tuple[str, int, int]]:
        place = self._end
        while place < len(self._text):
            found = _TOKEN.match(self._text, place)
            if found is None:
                self._start = place
                raise self._refusal("JSON")
            place = found.end()
            if found.lastgroup != "space":
                yield str(found.lastgroup), found.start(), place
        yield "end", place, place

    def _advance(self) -> None:
        self._before = self._end
        for token in self._tokens:
            self._kind, self._start, self._end = token
            if self._kind != "comment":
                return
            self._before = self._end

    def _is(self, mark: str) -> bool:
        return self._kind == "mark" and self._text[self._start] == mark

    def _refusal(self, wanted: str) -> InvalidInputError:
        line = self._text.count("\n", 0, self._start) + 1
        return InvalidInputError(f"line {line} is no JSON: expected {wanted}")

    def _value(self, level: int) -> JsonValue:
        if level > MOST_LEVELS:
            raise InvalidInputError(f"more than {MOST_LEVELS} objects inside each other")
        for opening, closing in (("{", "}"), ("[", "]")):
            if self._is(opening):
                return self._container(closing, level)
        if self._kind not in ("string", "word"):
            raise self._refusal("a value")
        start, end = self._start, self._end
        self._advance()
        return JsonValue("plain", start, end, self._plain(start, end))

    def _plain(self, start: int, end: int) -> object:
        try:
            return json.loads(self._text[start:end])
        except ValueError as error:  # an escape that does not exist, a number of thousands of digits
            line = self._text.count("\n", 0, start) + 1
            raise InvalidInputError(f"line {line} is no JSON: {error}") from error

    def _container(self, closing: str, level: int) -> JsonValue:
        start, items = self._start, list[JsonItem]()
        self._advance()
        while not self._is(closing):
            if items and items[-1].comma is None:
                raise self._refusal(f"a comma or {closing}")
            items.append(self._item(closing, level))
        content_end, end = self._before, self._end
        self._advance()
        data: object
        if closing == "}":
            data = {item.key: item.value.data for item in items}
            return JsonValue("object", start, end, data, tuple(items), content_end)
        data = [item.value.data for item in items]
        return JsonValue("array", start, end, data, tuple(items), content_end)

    def _item(self, closing: str, level: int) -> JsonItem:
        start, before, key = self._start, self._before, None
        if closing == "}":
            if self._kind != "string":
                raise self._refusal("a key")
            key = str(self._plain(start, self._end))
            self._advance()
            if not self._is(":"):
                raise self._refusal("a colon")
            self._advance()
        value = self._value(level + 1)
        comma = self._start if self._is(",") else None
        if comma is not None:
            self._advance()
        return JsonItem(key, start, before, comma, value)
