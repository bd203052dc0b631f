"""What operations are given, checked and turned into the values that the layers take."""

import math
from collections.abc import Sequence
from datetime import datetime

from hydramem.core.argument_checks import check_count
from hydramem.core.errors import InvalidInputError
from hydramem.core.row_types import State
from hydramem.core.time import When
from hydramem.storage.chunk_filter import LIVE
from hydramem.storage.store import Listing
from hydramem.text.dates.caller_dates import moment

MAX_PAGE = 1000

MAX_TOKENS = 1_000_000

MAX_CONTEXT = 20

MAX_STARTS = 50


def when(value: When | None, name: str) -> datetime | None:
    """Read a moment, also in words such as "last Friday"; None where none is given."""
    return None if value is None else moment(value, name=name)


def states(as_of: When | None, known_at: When | None) -> tuple[State, ...]:
    """Past times widen the states: what is superseded was true, what is archived was believed."""
    if known_at is not None:
        return ("active", "superseded", "archived")
    return LIVE if as_of is None else ("active", "superseded")


def tokens(most: int | None) -> int | None:
    """Check a token budget, None where there is none."""
    return None if most is None else check_count(most, name="max_tokens", most=MAX_TOKENS)


def limited(limit: int) -> int:
    """Check how many rows are asked for."""
    return check_count(limit, name="limit", most=MAX_PAGE)


def page(limit: int, offset: int) -> Listing:
    """Check a page of a list."""
    return Listing(
        limit=check_count(limit, name="limit", most=MAX_PAGE),
        offset=check_count(offset, name="offset", least=0, most=2**53),
    )


def seconds(most: float | None, name: str) -> float | None:
    """Check a time to wait, None where there is no limit."""
    if most is not None and not 0 <= most < math.inf:
        raise InvalidInputError(f"{name}: {most} is no number of seconds")
    return most


def starts(starts: Sequence[str]) -> tuple[str, ...]:
    """Check where a walk starts."""
    named = ids(starts)
    check_count(len(named), name="number of starts", most=MAX_STARTS)
    return named


def ids(ids: Sequence[str]) -> tuple[str, ...]:
    """Take one id or several."""
    return (ids,) if isinstance(ids, str) else tuple(ids)
