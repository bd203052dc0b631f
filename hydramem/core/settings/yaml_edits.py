"""Edits of YAML text: one value is set or taken out, and all else stays as it is, comments too."""

import copy
from collections.abc import Mapping, Sequence
from typing import Any

from hydramem.core.errors import InvalidInputError

_STEP = 2  # columns of an indentation that is made here
_LINE_BREAKS = "\x85\u2028\u2029"  # those of Unicode


def with_value(text: str, path: Sequence[str], value: object) -> str:
    """Return a text in which a key has a value.

    Args:
        text: YAML: a mapping, or nothing.
        path: The key, outermost first; sections that are missing are made.
        value: What YAML can hold without tags.

    Raises:
        InvalidInputError: The text is no mapping, or of a form that cannot be edited without changing more.
    """
    before = _loaded(text)
    expected = copy.deepcopy(before)
    section = expected
    for key in path[:-1]:
        if not isinstance(section.get(key), dict):
            section[key] = {}
        section = section[key]
    section[path[-1]] = value
    return (
        text
        if expected == before and _has(before, path)
        else _checked(_set(text, path, value), expected, path)
    )


def without(text: str, path: Sequence[str]) -> str:
    """Return a text without a key, and without the sections that this leaves empty.

    Args:
        text, path: As of `with_value`.

    Raises:
        InvalidInputError: As of `with_value`.
    """
    before = _loaded(text)
    if not _has(before, path):
        return text
    last = len(path) - 1
    while last and len(_section(before, path[:last])) == 1:
        last -= 1
    expected = copy.deepcopy(before)
    del _section(expected, path[:last])[path[last]]
    return _checked(_removed(text, path[: last + 1]), expected, path)


def _loaded(text: str) -> dict[str, Any]:
    import yaml

    try:
        loaded = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise InvalidInputError(f"cannot be read as YAML: {error}") from error
    if loaded is None:
        return {}
    if not isinstance(loaded, dict):
        raise InvalidInputError(f"expected sections such as `storage:`, found {type(loaded).__name__}")
    return loaded


def _section(values: dict[str, Any], path: Sequence[str]) -> dict[str, Any]:
    for key in path:
        values = values[key]
    return values


def _has(values: object, path: Sequence[str]) -> bool:
    for key in path:
        if not isinstance(values, Mapping) or key not in values:
            return False
        values = values[key]
    return True


def _checked(text: str, expected: Mapping[str, Any], path: Sequence[str]) -> str:
    try:
        right = _loaded(text) == expected
    except InvalidInputError:
        right = False
    if not right:
        raise InvalidInputError(f"{'.'.join(path)}: cannot be set in a text of this form; edit it by hand")
    return text


def _set(text: str, path: Sequence[str], value: object) -> str:
    import yaml

    node = parent = key = _root(text)
    if node is None:
        return _line_ended(text) + _lines(path, value, 0, text)
    for place, name in enumerate(path):
        if not isinstance(node, yaml.MappingNode):
            if node.start_mark.index == node.end_mark.index and not parent.flow_style:
                return _inserted_below(text, key, path[place:], value)
            value = _nested(path[place:], value)
            break
        pair = _pair(node, name)
        if pair is None:
            return _added(text, node, path[place:], value)
        parent, (key, node) = node, pair
    end = _end(node)
    if isinstance(node, yaml.CollectionNode) and not node.flow_style:
        return f"{text[: key.end_mark.index]}: {_written(value)}{text[end:]}"
    begin = node.start_mark.index
    blank = "" if text[:begin].endswith((" ", "\t")) else " "
    return f"{text[:begin]}{blank}{_written(value)}{text[end:]}"


def _removed(text: str, path: Sequence[str]) -> str:
    node = _root(text)
    for name in path[:-1]:
        _, node = _pair(node, name)
    key, value = _pair(node, path[-1])
    begin, end = key.start_mark.index, _end(value)
    if node.flow_style:
        pairs = [pair for pair in node.value if pair[0] is not key]
        inner = ", ".join(text[left.start_mark.index : _end(right)] for left, right in pairs)
        return f"{text[: node.start_mark.index]}{{{inner}}}{text[node.end_mark.index :]}"
    line = text.rfind("\n", 0, begin) + 1
    stop = text.find("\n", end)
    return text[:line] + ("" if stop < 0 else text[stop + 1 :])


def _inserted_below(text: str, key: Any, path: Sequence[str], value: object) -> str:
    """Insert lines under a key that has no value."""
    stop = _line_end(text, key.end_mark.index)
    head = _line_ended(text[:stop])
    return head + _lines(path, value, key.start_mark.column + _STEP, text) + text[stop:]


def _added(text: str, node: Any, path: Sequence[str], value: object) -> str:
    """Add a key to a mapping that has others."""
    if node.flow_style:
        end = node.end_mark.index - 1
        value = _nested(path[1:], value)
        comma = ", " if node.value else ""
        return f"{text[:end].rstrip()}{comma}{path[0]}: {_written(value)}{text[end:]}"
    stop = _line_end(text, _end(node.value[-1][1]))
    column = node.value[0][0].start_mark.column
    return _line_ended(text[:stop]) + _lines(path, value, column, text) + text[stop:]


def _lines(path: Sequence[str], value: object, column: int, text: str) -> str:
    end = "\r\n" if "\r\n" in text else "\n"
    *sections, last = path
    lines = [" " * (column + _STEP * depth) + f"{name}:" for depth, name in enumerate(sections)]
    lines.append(" " * (column + _STEP * len(sections)) + f"{last}: {_written(value)}")
    return "".join(line + end for line in lines)


def _nested(path: Sequence[str], value: object) -> object:
    for name in reversed(path):
        value = {name: value}
    return value


def _written(value: object) -> str:
    import yaml

    shown: str = yaml.safe_dump(value, default_flow_style=True, width=2**31, allow_unicode=True)
    if any(sign in shown for sign in _LINE_BREAKS):  # PyYAML writes them as they are, and reads them folded
        shown = yaml.safe_dump(value, default_flow_style=True, width=2**31)
    return shown.removesuffix("\n").removesuffix("\n...")


def _root(text: str) -> Any:
    import yaml

    return yaml.compose(text, Loader=yaml.SafeLoader)


def _pair(node: Any, name: str) -> Any:
    return next((pair for pair in node.value if pair[0].value == name), None)


def _end(node: Any) -> int:
    """Return where a value ends; the mark of a block's end stands after what follows it."""
    import yaml

    if isinstance(node, yaml.CollectionNode) and not node.flow_style and node.value:
        last = node.value[-1]
        return _end(last[1] if isinstance(last, tuple) else last)
    end = int(node.end_mark.index)
    if isinstance(node, yaml.ScalarNode) and node.style in ("|", ">"):
        return end - 1  # of the line break, which stays
    return end


def _line_end(text: str, place: int) -> int:
    stop = text.find("\n", place)
    return len(text) if stop < 0 else stop + 1


def _line_ended(text: str) -> str:
    return text if not text or text.endswith("\n") else f"{text}\n"
