"""Checks of what callers give, before anything is read or written; each error names the argument."""

import unicodedata
from collections.abc import Collection, Sequence
from typing import TypeVar

from hydramem.core.errors import InvalidInputError
from hydramem.core.project_bounds import in_bounds

_T = TypeVar("_T")
MAX_NAME = 200
MAX_SCOPE = 500
MAX_PROSE = 10_000


def check_text(value: object, *, name: str, most: int) -> str:
    """Return text that is not blank, not too long, and can be stored.

    Raises:
        InvalidInputError: Not a string, blank, over `most` characters, or with NUL or lone surrogates.
    """
    if not isinstance(value, str):
        raise InvalidInputError(f"{name}: expected text, got {type(value).__name__}")
    if not value.strip():
        raise InvalidInputError(f"{name}: is blank")
    if len(value) > most:
        raise InvalidInputError(f"{name}: {len(value):,} characters, more than the {most:,} allowed")
    if "\x00" in value:
        raise InvalidInputError(f"{name}: contains a NUL character at {value.index(chr(0))}")
    try:
        value.encode("utf-8")
    except UnicodeEncodeError as error:
        raise InvalidInputError(f"{name}: contains a lone surrogate at {error.start}") from error
    return value


def check_name(value: object, *, name: str) -> str:
    """Return a name on one line: of an entity, a relation type, a session, a source."""
    text = check_text(value, name=name, most=MAX_NAME)
    if any(unicodedata.category(character) == "Cc" for character in text):
        raise InvalidInputError(f"{name}: {text[:40]!r} contains a control character")
    return text.strip()


def check_project(value: object) -> str:
    """Return a project name: letters, digits, spaces and marks, but nothing that looks like a path.

    Raises:
        InvalidInputError: It is no name.
        NotFoundError: This call may not touch it.
    """
    text = check_name(value, name="project")
    if text.startswith(".") or ".." in text or "/" in text or "\\" in text:
        raise InvalidInputError(f"project: {text[:80]!r} looks like a path; use a plain name such as 'notes'")
    return in_bounds(text)


def check_scope(value: object) -> str:
    """Return a scope as `/segment/segment`, or `/`."""
    text = check_text(value, name="scope", most=MAX_SCOPE)
    segments = [segment for segment in text.strip().split("/") if segment]
    if not text.strip().startswith("/") or any(segment in {".", ".."} for segment in segments):
        raise InvalidInputError(f"scope: {text[:80]!r} must be a path such as /infra/database")
    return "/" + "/".join(segments)


def check_share(value: object, *, name: str) -> float:
    """Return a number from 0 to 1."""
    return check_within(value, name=name, least=0, most=1)


def check_within(value: object, *, name: str, least: float, most: float) -> float:
    """Return a number between two bounds, both included."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not least <= value <= most:
        raise InvalidInputError(f"{name}: expected a number from {least} to {most}, got {str(value)[:40]}")
    return float(value)


def check_choice(value: _T, choices: Collection[_T], *, name: str) -> _T:
    """Return a value that is one of a closed set."""
    if value not in choices:
        raise InvalidInputError(f"{name}: {str(value)[:40]!r} is none of {', '.join(map(str, choices))}")
    return value


def check_choices(values: Sequence[_T], choices: Collection[_T], *, name: str) -> tuple[_T, ...]:
    """Return values that are each one of a closed set."""
    if isinstance(values, str):
        raise InvalidInputError(f"{name}: expected a list such as [{values!r}], got text")
    return tuple(check_choice(value, choices, name=name) for value in values)


def check_count(value: object, *, name: str, least: int = 1, most: int) -> int:
    """Return a whole number between two bounds, both included."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise InvalidInputError(f"{name}: expected a whole number, got {value!r}")
    if not least <= value <= most:
        raise InvalidInputError(f"{name}: {value} is not between {least} and {most:,}")
    return value


def check_reason(value: str | None) -> str | None:
    """Return a reason for the history."""
    return None if value is None else check_text(value, name="reason", most=MAX_PROSE)
