"""Check the arguments that many operations share, and turn them into the values that the layers take."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any, TypeVar, get_args

from hydramem.core.argument_checks import (
    check_choices,
    check_count,
    check_name,
    check_project,
    check_scope,
    check_share,
    check_text,
)
from hydramem.core.errors import InvalidInputError
from hydramem.core.row_types import ChunkKind, State, Tier
from hydramem.core.time import When, clock
from hydramem.search.visible.listings import session_key
from hydramem.storage.chunk_filter import LIVE, ChunkFilter
from hydramem.storage.store import Listing
from hydramem.text.dates.caller_dates import moment_or_none

MAX_PAGE = 1000
MAX_TOKENS = 1_000_000
MAX_CHARS = 4_000_000
MAX_CONTEXT = 20
MAX_STARTS = 50
_MOST_PATH = 4000
_T = TypeVar("_T")


def gathered(kind: type[_T], arguments: Mapping[str, Any]) -> _T:
    """Build a dataclass from the arguments that have the names of its fields, such as `locals()`."""
    return kind(**{item.name: arguments[item.name] for item in fields(kind)})  # type: ignore[arg-type]


def states(as_of: When | None, known_at: When | None) -> tuple[State, ...]:
    """Return the states that a read sees: superseded rows were true, and archived rows were believed."""
    if known_at is not None:
        return ("active", "superseded", "archived")
    return LIVE if as_of is None else ("active", "superseded")


def chunk_filter(project: str, arguments: Mapping[str, Any]) -> ChunkFilter:
    """Check the filters among the arguments of a read; one that is missing or empty does not restrict.

    Args:
        project: The project to read.
        arguments: The arguments of the operation by name, such as `locals()`.
    """
    given = arguments.get
    scope, session, as_of, known_at = given("scope"), given("session"), given("as_of"), given("known_at")
    return ChunkFilter(
        projects=tuple(dict.fromkeys((project, *map(check_project, ids(given("also", ())))))),
        kinds=check_choices(given("kinds", ()), get_args(ChunkKind), name="kinds"),
        layers=check_choices(given("layers", ()), get_args(Tier), name="layers"),
        states=check_choices(given("states", ()), get_args(State), name="states") or states(as_of, known_at),
        scope=None if scope is None else check_scope(scope),
        categories=ids(given("categories", ())),
        sessions=() if session is None else (session_key(project, session),),
        include_private=given("include_private", True),
        min_confidence=check_share(given("min_confidence", 0.0), name="min_confidence"),
        happened_from=moment_or_none(given("happened_from"), "happened_from"),
        happened_to=moment_or_none(given("happened_to"), "happened_to"),
        at=moment_or_none(as_of, "as_of") or clock(),
        known_at=moment_or_none(known_at, "known_at"),
    )


def page(limit: int, offset: int) -> Listing:
    """Check a page of a list."""
    return Listing(limit=row_limit(limit), offset=check_count(offset, name="offset", least=0, most=2**53))


def row_limit(limit: int) -> int:
    """Check a number of rows to return."""
    return check_count(limit, name="limit", most=MAX_PAGE)


def token_budget(tokens: int) -> int:
    """Check a number of tokens."""
    return check_count(tokens, name="max_tokens", most=MAX_TOKENS)


def character_budget(characters: int | None) -> int | None:
    """Check a number of characters; None is without bound."""
    return None if characters is None else check_count(characters, name="max_chars", most=MAX_CHARS)


def depth(steps: int) -> int:
    """Check how many steps a walk takes."""
    return check_count(steps, name="depth", most=5)


def types(types: Sequence[str]) -> tuple[str, ...]:
    """Check the types of edges that a walk follows."""
    return tuple(check_name(type, name="types") for type in ids(types))


def seconds(most: float | None, name: str) -> float | None:
    """Check a time to wait; None is without limit."""
    if most is not None and not 0 <= most < math.inf:
        raise InvalidInputError(f"{name}: {most} is no number of seconds")
    return most


def ids(ids: Sequence[str]) -> tuple[str, ...]:
    """Return several ids or names; one text is one of them."""
    return (ids,) if isinstance(ids, str) else tuple(ids)


def path_of(text: str, name: str) -> Path:
    """Return the absolute path that a text names, links resolved.

    Raises:
        InvalidInputError: It can be no path.
    """
    try:
        return Path(check_text(text, name=name, most=_MOST_PATH)).expanduser().resolve()
    except (OSError, RuntimeError) as error:  # a loop of links, an unknown user
        raise InvalidInputError(f"{name}: {text[:200]!r} cannot be a path") from error
