"""Parameters of statements that read: as the database takes them."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

Parameters = Mapping[str, object]


def as_parameters(values: Parameters) -> dict[str, Any]:
    """Return values as parameters: times in UTC without a zone, and text that no store can hold as null.

    No stored text has NUL or lone surrogates, and null is equal to nothing: what is looked for is not found.
    """
    return {name: _parameter(value) for name, value in values.items()}


def _parameter(value: object) -> object:
    if isinstance(value, str):
        return value if _is_storable(value) else None
    if isinstance(value, datetime) and value.tzinfo is not None:
        return value.astimezone(UTC).replace(tzinfo=None)
    if isinstance(value, list):
        return [_parameter(item) for item in value]
    return value


def _is_storable(text: str) -> bool:
    if "\0" in text:
        return False
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
