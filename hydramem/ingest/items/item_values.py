"""Items as callers give and get them: checked, as JSON, and the texts in them that are searched for."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from hydramem.core.argument_checks import MAX_SCOPE, check_within
from hydramem.core.errors import InvalidInputError
from hydramem.core.ids import item_id
from hydramem.core.inputs import ItemInput
from hydramem.core.results.item_results import ItemView
from hydramem.core.row_types import Item

WHOLE = "$"
"""The path of a whole value, which is searched for as its JSON."""
MOST_AT_ONCE = 10_000
_MOST_VALUE = 8_000_000
_MOST_KEY = 1000
_MOST_LABELS = 32
_MOST_PATHS = 64
_MOST_MINUTES = 60 * 24 * 36_500
_STEP = re.compile(r"\.?([^.\[\]]+)|\[(\*|-?\d{1,9})\]")
_ESCAPED = re.compile(r"[%/\x00-\x1f\x7f]|^\s|\s$|^\.{1,2}$")


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedItem:
    """An item to put, or to delete where `value` is None; fields as in `ItemInput`.

    Attributes:
        id: Its content address.
        value: JSON, as text.
        texts: The texts at its search paths, in their order, blank ones left out.
    """

    id: str
    namespace: tuple[str, ...]
    key: str
    value: str | None
    texts: tuple[str, ...]
    ttl: float | None


def check_items(items: Sequence[ItemInput], project: str) -> list[CheckedItem]:
    """Check items to put; of several with one key the last is kept.

    Raises:
        InvalidInputError: One is wrong; the message names its place.
    """
    if isinstance(items, str | ItemInput) or not isinstance(items, Sequence):
        raise InvalidInputError("items: expected a list of items")
    if not 1 <= len(items) <= MOST_AT_ONCE:
        raise InvalidInputError(f"items: {len(items)} are given; give 1 to {MOST_AT_ONCE:,}")
    checked: dict[str, CheckedItem] = {}
    for place, each in enumerate(items):
        item = _checked(each, f"items[{place}]", project)
        checked.pop(item.id, None)
        checked[item.id] = item
    return list(checked.values())


def _checked(given: ItemInput, where: str, project: str) -> CheckedItem:
    if not isinstance(given, ItemInput):
        raise InvalidInputError(f"{where}: expected an ItemInput, got {type(given).__name__}")
    namespace = check_namespace(given.namespace, name=f"{where}.namespace")
    if not namespace:
        raise InvalidInputError(f"{where}.namespace: has no label")
    scope_of(namespace, name=f"{where}.namespace")
    key = check_key(given.key, name=f"{where}.key")
    value = None if given.value is None else _json_text(given.value, name=f"{where}.value")
    paths = () if value is None else _check_paths(given.search_paths, name=f"{where}.search_paths")
    return CheckedItem(
        id=item_id(project, namespace, key),
        namespace=namespace,
        key=key,
        value=value,
        texts=tuple(text for path in paths for text in texts_at(given.value, path) if text.strip()),
        ttl=None if given.ttl is None else _check_minutes(given.ttl, name=f"{where}.ttl"),
    )


def _check_minutes(minutes: object, *, name: str) -> float:
    return check_within(minutes, name=name, least=0, most=_MOST_MINUTES)


def check_namespace(labels: object, *, name: str) -> tuple[str, ...]:
    """Return the labels of a namespace, or of a prefix, which may be empty.

    Raises:
        InvalidInputError: They are no list, too many, or one is no text, empty, or cannot be stored.
    """
    if isinstance(labels, str) or not isinstance(labels, Sequence):
        raise InvalidInputError(f"{name}: expected a list of labels such as ['users', 'ada']")
    if len(labels) > _MOST_LABELS:
        raise InvalidInputError(f"{name}: {len(labels)} labels, more than {_MOST_LABELS}")
    return tuple(check_key(label, name=name) for label in labels)


def check_key(value: object, *, name: str) -> str:
    """Return a key or label: text that is not empty, not too long, and can be stored."""
    if not isinstance(value, str):
        raise InvalidInputError(f"{name}: expected text, got {type(value).__name__}")
    if not value or len(value) > _MOST_KEY or "\0" in value:
        raise InvalidInputError(f"{name}: {value[:40]!r} is empty, longer than {_MOST_KEY:,}, or has a NUL")
    return value


def _json_text(value: object, *, name: str) -> str:
    if not isinstance(value, Mapping):
        raise InvalidInputError(f"{name}: expected an object, got {type(value).__name__}")
    try:
        text = json.dumps(dict(value), ensure_ascii=False, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidInputError(f"{name}: JSON cannot hold it: {error}") from error
    return check_size(text, name=name)


def check_size(text: str, *, name: str) -> str:
    """Return the text of a value that is not too long."""
    if len(text) > _MOST_VALUE:
        raise InvalidInputError(f"{name}: {len(text):,} characters as JSON, more than {_MOST_VALUE:,}")
    return text


def scope_of(namespace: Sequence[str], *, name: str = "namespace") -> str:
    """Return the scope of the memories of a namespace: a segment a label, what a path cannot hold as `%2F`.

    Raises:
        InvalidInputError: It is longer than a scope may be.
    """
    scope = "/" + "/".join(_ESCAPED.sub(_escape, label) for label in namespace)
    if len(scope) > MAX_SCOPE:
        raise InvalidInputError(f"{name}: {len(scope)} characters in all, more than {MAX_SCOPE}")
    return scope


def _escape(found: re.Match[str]) -> str:
    return "".join(f"%{byte:02X}" for byte in found.group().encode())


# Texts ------------------------------------------------------------------------------------------


def _check_paths(paths: Sequence[str], *, name: str) -> tuple[str, ...]:
    is_list = isinstance(paths, Sequence) and not isinstance(paths, str)
    if not is_list or len(paths) > _MOST_PATHS or not all(isinstance(path, str) for path in paths):
        raise InvalidInputError(f"{name}: expected a list of at most {_MOST_PATHS} paths such as ['title']")
    for path in paths:
        if path != WHOLE and "".join(step.group() for step in _STEP.finditer(path)) != path:
            raise InvalidInputError(
                f"{name}: {path[:80]!r} is no path such as title, author.name or notes[*].text"
            )
    return tuple(dict.fromkeys(paths))


def texts_at(value: object, path: str) -> list[str]:
    """Return the texts at a path of a JSON value.

    Args:
        path: `$` for the whole value as JSON, else names joined by dots, with `[2]`, `[-1]` or `[*]` for what
            is in a list; what is at no such place gives nothing.
    """
    if path == WHOLE:
        return [_as_text(value)]
    found: list[Any] = [value]
    for step in _STEP.finditer(path):
        name, place = step.groups()
        found = [inner for each in found for inner in _inner(each, name, place)]
    return [_as_text(each) for each in found if each is not None]


def _inner(value: Any, name: str | None, place: str | None) -> Iterator[Any]:
    """Yield what is at one step of a path within a value."""
    if name is not None:
        if isinstance(value, Mapping) and name in value:
            yield value[name]
        elif name == "*" and isinstance(value, Mapping):
            yield from value.values()
    elif isinstance(value, Sequence) and not isinstance(value, str):
        if place == "*":
            yield from value
        elif place is not None and -len(value) <= int(place) < len(value):
            yield value[int(place)]


def _as_text(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, sort_keys=True, ensure_ascii=False)


# Views ------------------------------------------------------------------------------------------


def view_of(item: Item, score: float | None = None) -> ItemView:
    """Return a stored item as callers get it."""
    return ItemView(
        id=item.id,
        namespace=item.namespace,
        key=item.key,
        value=json.loads(item.value),
        created_at=item.created_at,
        updated_at=item.updated_at,
        expires_at=item.expires_at,
        score=score,
    )


def expiry(ttl: float | None, at: datetime) -> datetime | None:
    """Return when an item expires that is written or read at a moment."""
    return None if ttl is None else at + timedelta(minutes=ttl)
