"""Write one table into a text of TOML and take it out again, and leave every other character as it is.

The standard library checks each result. tomlkit writes back what it has read, but puts a new table behind the
comment of the one that follows, and leaves blank lines when the table goes.
"""

import json
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hydramem.core.errors import InvalidInputError

_TOKEN = re.compile(
    r'(?P<text>"""(?s:\\.|[^\\])*?""""{0,2}'
    r"|'''(?s:.)*?''''{0,2}"
    r'|"(?:\\.|[^"\\\n])*"'
    r"|'[^'\n]*')"
    r"|(?P<comment>\#[^\n]*)"
    r"|(?P<open>[\[{])|(?P<close>[\]}])"
    r"|(?P<line>\r?\n)|(?P<space>[ \t]+)|(?P<other>[^\s\"'\#\[\]{}]+)"
)
_NAME = r"""(?:[A-Za-z0-9_-]+|"(?:\\.|[^"\\\n])*"|'[^'\n]*')"""
_KEY = re.compile(rf"{_NAME}(?:[ \t]*\.[ \t]*{_NAME})*")
_BLANK_LINE = re.compile(r"(?<=\n)\r?\n\Z")
_BARE = re.compile(r"[A-Za-z0-9_-]+")


@dataclass(frozen=True, slots=True)
class TomlStatement:
    """A header of a table, or a key with its value.

    Attributes:
        key: Its whole key: that of its table first.
        is_table: Whether it is a header.
        start, end: Its characters, without the comment after it.
        line_end: Where the line on which it ends is over.
    """

    key: tuple[str, ...]
    is_table: bool
    start: int
    end: int
    line_end: int


def read_toml(text: str) -> dict[str, Any]:
    """Return a text of TOML as Python types.

    Raises:
        InvalidInputError: It is none.
    """
    try:
        return tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise InvalidInputError(f"is no TOML: {error}") from error


def put_table(text: str, path: tuple[str, ...], table: Mapping[str, Any]) -> str:
    """Return the text with the keys of a table set; other keys of it stay.

    Args:
        text: TOML.
        path: Where the table stands. A new one is written at the end of the file.
        table: Texts, numbers, booleans, lists of these, and tables of these.

    Raises:
        InvalidInputError: The text is no TOML, or the table stands in another one's braces.
    """
    there = _at(read_toml(text), path)
    if there is None:
        after = _with_end(text) + ("\n" if text.strip() else "").replace("\n", _line_end(text))
        after += _block(path, table).replace("\n", _line_end(text))
    else:
        after = text
        for key, value in table.items():
            if isinstance(value, Mapping):
                after = put_table(after, (*path, key), value)
            elif not isinstance(there, dict) or there.get(key) != value:
                after = _put_value(after, path, key, value)
    return _checked(after, path, there, table)


def take_table(text: str, path: tuple[str, ...]) -> str:
    """Return the text without what stands at a path: a table with all of its own, or one key.

    Raises:
        InvalidInputError: The text is no TOML, or it stands in another one's braces.
    """
    if _at(read_toml(text), path) is None:
        return text
    ranges: list[tuple[int, int]] = []
    for statement in _statements(text):
        if statement.key[: len(path)] == path:
            start = _line_start(text, statement.start)
            if ranges and not text[ranges[-1][1] : start].strip():
                start = ranges.pop()[0]
            ranges.append((start, statement.line_end))
    after = text
    for start, end in reversed(ranges):
        # The blank line that came with the table goes with it; a file of blanks alone had none added.
        blank = _BLANK_LINE.search(after, 0, start) if after[start] == "[" and after[:start].strip() else None
        after = after[: blank.start() if blank else start] + after[end:]
    if _at(read_toml(after), path) is not None:
        raise InvalidInputError(f"{'.'.join(path)}: stands within braces; take it out by hand")
    return after


def _put_value(text: str, path: tuple[str, ...], key: str, value: object) -> str:
    statements = _statements(text)
    for statement in statements:
        if statement.key == (*path, key) and not statement.is_table:
            return f"{text[: statement.start]}{_pair(key, value)}{text[statement.end :]}"
    for statement in statements:
        if statement.key == path and statement.is_table:
            head = _with_end(text[: statement.line_end])
            return head + _pair(key, value) + _line_end(text) + text[statement.line_end :]
    raise InvalidInputError(f"{'.'.join(path)}: is no table of its own; take it out by hand, then try again")


def _checked(after: str, path: tuple[str, ...], there: object, table: Mapping[str, Any]) -> str:
    """Return the text if the table holds what it shall; a header cannot open what braces have closed."""
    wanted = _merged(there if isinstance(there, dict) else {}, table)
    try:
        found = _at(tomllib.loads(after), path)
    except tomllib.TOMLDecodeError:
        found = None
    if found != wanted:
        raise InvalidInputError(
            f"{'.'.join(path[:-1])}: stands within braces; write it as tables, then try again"
        )
    return after


def _merged(there: Mapping[str, Any], table: Mapping[str, Any]) -> dict[str, Any]:
    merged = dict(there)
    for key, value in table.items():
        old = there.get(key)
        merged[key] = (
            _merged(old if isinstance(old, dict) else {}, value) if isinstance(value, Mapping) else value
        )
    return merged


def _at(value: object, path: Sequence[str]) -> object:
    for step in path:
        if not isinstance(value, dict) or step not in value:
            return None
        value = value[step]
    return value


def _statements(text: str) -> list[TomlStatement]:
    """Return the statements of a text that is known to be TOML, in their order."""
    statements: list[TomlStatement] = []
    table: tuple[str, ...] = ()
    start, end, depth = -1, -1, 0
    for token in [*_TOKEN.finditer(text), None]:
        kind = token.lastgroup if token is not None else "line"
        if kind == "line" and depth == 0:
            if start >= 0:
                line_end = token.end() if token is not None else len(text)
                statements.append(_statement(text, table, start, end, line_end))
                table = statements[-1].key if statements[-1].is_table else table
            start = -1
        elif token is not None and kind not in ("space", "comment", "line"):
            depth += (kind == "open") - (kind == "close")
            start, end = token.start() if start < 0 else start, token.end()
    return statements


def _statement(text: str, table: tuple[str, ...], start: int, end: int, line_end: int) -> TomlStatement:
    is_table = text[start] == "["
    found = _KEY.search(text, start, end)
    value: object = tomllib.loads(f"{found.group()}=0") if found else {}
    key: list[str] = []
    while isinstance(value, dict) and value:
        ((name, value),) = value.items()
        key.append(name)
    return TomlStatement(tuple(key) if is_table else (*table, *key), is_table, start, end, line_end)


def _block(path: tuple[str, ...], table: Mapping[str, Any]) -> str:
    lines = [f"[{'.'.join(map(_key, path))}]"]
    lines += [_pair(key, value) for key, value in table.items() if not isinstance(value, Mapping)]
    inner = ["\n" + _block((*path, key), value) for key, value in table.items() if isinstance(value, Mapping)]
    return "\n".join(lines) + "\n" + "".join(inner)


def _pair(key: str, value: object) -> str:
    return f"{_key(key)} = {_value(value)}"


def _key(key: str) -> str:
    return key if _BARE.fullmatch(key) else _value(key)


def _value(value: object) -> str:
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_value, value))}]"
    return str(value)


def _with_end(text: str) -> str:
    return text if not text or text.endswith("\n") else text + _line_end(text)


def _line_end(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def _line_start(text: str, place: int) -> int:
    return text.rfind("\n", 0, place) + 1
