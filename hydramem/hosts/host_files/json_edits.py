"""Set and remove values in a text of JSON, and leave every other character as it is."""

import json
import re
from collections.abc import Sequence

from hydramem.core.errors import InvalidInputError
from hydramem.hosts.host_files.json_text import JsonItem, JsonValue, Step, read_json

_INDENT = "  "
"""Of a file that shows none of its own."""

_LINE_END = re.compile(r"\r?\n|\r")


def put(text: str, path: Sequence[Step], value: object) -> str:
    """Return the text with a value at a path; objects on the way are made where they are missing.

    Args:
        text: JSON, with comments or without.
        path: Keys and places; its last step may be a key that does not exist yet.
        value: JSON types.

    Raises:
        InvalidInputError: The text is no JSON, or something else than an object stands on the way.
    """
    root = read_json(text)
    at, rest = root, list(path)
    while rest and (item := at.item(rest[0])) is not None:
        at = item.value
        rest.pop(0)
    if not rest:
        if at.data == value:
            return text
        written = _render(text, root, value, _line_indent(text, at.start), one_line=_is_one_line(text, root))
        return text[: at.start] + written + text[at.end :]
    if at.kind != "object" or not all(isinstance(step, str) for step in rest):
        raise InvalidInputError(
            f"{_shown(path[: len(path) - len(rest)])}: is no object, so nothing can be added"
        )
    for step in reversed(rest[1:]):
        value = {step: value}
    return _insert(text, root, at, f"{json.dumps(rest[0], ensure_ascii=False)}: ", value)


def append(text: str, path: Sequence[str], value: object) -> str:
    """Return the text with one more last element of the array at a path; a missing array is made.

    Raises:
        InvalidInputError: The text is no JSON, or no array stands there.
    """
    root = read_json(text)
    array = root.find(path)
    if array is None:
        return put(text, path, [value])
    if array.kind != "array":
        raise InvalidInputError(f"{_shown(path)}: is no array, so nothing can be added")
    return _insert(text, root, array, "", value)


def take(text: str, path: Sequence[Step]) -> str:
    """Return the text without the value at a path; comments around it stay.

    Raises:
        InvalidInputError: The text is no JSON, or a key on the way stands twice.
    """
    holder = read_json(text).find(path[:-1])
    item = holder.item(path[-1]) if holder is not None else None
    if holder is None or item is None:
        return text
    place = holder.items.index(item)
    cuts = [_cut(text, item)]
    if place and place == len(holder.items) - 1 and item.comma is None:
        comma = holder.items[place - 1].comma
        cuts.append((comma, comma + 1) if comma is not None else (0, 0))
    if len(holder.items) == 1:
        (start, end) = cuts[0]
        inside = text[holder.start + 1 : start] + text[end : holder.end - 1]
        if not inside.strip():
            cuts = [(holder.start + 1, holder.end - 1)]
    for start, end in sorted(cuts, reverse=True):
        text = text[:start] + text[end:]
    return text


def _cut(text: str, item: JsonItem) -> tuple[int, int]:
    """Return the characters of an item that go: from what stands before it to its comma."""
    end = item.value.end if item.comma is None else item.comma + 1
    rest = _LINE_END.split(text[end : end + 10_000], maxsplit=1)[0]
    if rest.strip() and _LINE_END.search(text, item.before, item.start):
        # What follows on the line moves to where the item began, not behind a comment of the line before.
        return item.start, end + len(rest) - len(rest.lstrip())
    return item.before, end


def _insert(text: str, root: JsonValue, at: JsonValue, key: str, value: object) -> str:
    """Return the text with a last item in an object or array."""
    line_end, close = _line_end(text), at.end - 1
    outer = _line_indent(text, at.start)
    if not at.items:
        one_line = _is_one_line(text, root)
        indent = outer + _unit(text, root)
        member = key + _render(text, root, value, indent, one_line=one_line)
        if one_line:
            return text[: at.content_end] + member + text[at.content_end :]
        if not text[at.content_end : close].strip(" \t\r\n") and at.content_end == at.start + 1:
            return text[: at.content_end] + f"{line_end}{indent}{member}{line_end}{outer}" + text[close:]
        tail = "" if _LINE_END.search(text, at.content_end, close) else line_end + outer
        return text[: at.content_end] + f"{line_end}{indent}{member}{tail}" + text[at.content_end :]
    last = at.items[-1]
    several_lines = _LINE_END.search(text, at.content_end, close) is not None
    own = _own_indent(text, last.start)
    indent = outer + _unit(text, root) if own is None else own
    member = key + _render(text, root, value, indent, one_line=not several_lines)
    member = (line_end + indent if several_lines else " ") + member
    if last.comma is not None:
        return text[: at.content_end] + f"{member}," + text[at.content_end :]
    end = last.value.end
    return f"{text[:end]},{text[end : at.content_end]}{member}{text[at.content_end :]}"


def _render(text: str, root: JsonValue, value: object, indent: str, *, one_line: bool) -> str:
    if one_line:
        return json.dumps(value, ensure_ascii=False)
    lines = json.dumps(value, ensure_ascii=False, indent=_unit(text, root)).split("\n")
    return (_line_end(text) + indent).join(lines)


def _is_one_line(text: str, root: JsonValue) -> bool:
    """Whether a file that holds something is written without line ends."""
    return bool(root.items) and not _LINE_END.search(text, root.start, root.end)


def _unit(text: str, root: JsonValue) -> str:
    """Return what one level is indented by: as the first item of the file that begins a line."""
    for item in root.items:
        if (indent := _own_indent(text, item.start)) is not None:
            return indent or _INDENT
    return _INDENT


def _own_indent(text: str, place: int) -> str | None:
    """Return the blanks before a place if they are all that stands before it on its line, else None."""
    start = _line_start(text, place)
    return text[start:place] if start and not text[start:place].strip(" \t") else None


def _line_indent(text: str, place: int) -> str:
    """Return the blanks that the line of a place begins with."""
    line = text[_line_start(text, place) : place].lstrip("\ufeff")
    return line[: len(line) - len(line.lstrip(" \t"))]


def _line_start(text: str, place: int) -> int:
    return max(text.rfind("\n", 0, place), text.rfind("\r", 0, place)) + 1


def _line_end(text: str) -> str:
    found = _LINE_END.search(text)
    return found.group() if found else "\n"


def _shown(path: Sequence[Step]) -> str:
    return ".".join(map(str, path)) or "the file"
