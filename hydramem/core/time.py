"""UTC times: the clock, parsing of what callers give, and stamps that never run backwards."""

import re
import threading
from datetime import UTC, date, datetime, timedelta

from hydramem.core.errors import InvalidInputError

When = datetime | str
"""A moment as callers give it: an aware datetime or ISO 8601 text (a date or month is its start in UTC).

Operations also take words such as "last Friday": `text.dates.caller_dates`.
"""

_YEAR_OR_MONTH = re.compile(r"\d{4}(-\d{2})?")
_CLOCKS_DIFFER = timedelta(minutes=1)
_last = datetime.min.replace(tzinfo=UTC)
_lock = threading.Lock()


def clock() -> datetime:
    """Return the UTC time of the machine's clock: "now" for whoever reads, and for what is true or over."""
    return datetime.now(UTC)


def not_ahead(moment: datetime) -> datetime:
    """Return a moment at which something was recorded, or the clock's where that is earlier.

    Once a clock was ahead, recorded times stay ahead of it: nothing is true only from then on.
    """
    return min(moment, clock())


def now() -> datetime:
    """Return the time to record: the clock's, but strictly later than any earlier answer in this process.

    A clock that is set back would otherwise let a later write carry an earlier time than the one it replaces.
    Nothing is read by it: `clock` says what holds now.
    """
    global _last
    with _lock:
        _last = max(datetime.now(UTC), _last + timedelta(microseconds=1))
        return _last


def advance_past(moment: datetime) -> None:
    """Make `now` answer later than a moment that a store has already recorded."""
    global _last
    with _lock:
        _last = max(_last, moment)


def clock_warning(last: datetime) -> str | None:
    """Return a sentence where the last write of a store is ahead of the clock by more than a minute."""
    at = clock()
    if last <= at + _CLOCKS_DIFFER:
        return None
    return (
        f"the last write is recorded at {last:%Y-%m-%d %H:%M}, the clock says {at:%Y-%m-%d %H:%M}: one "
        "was wrong; new writes are recorded after the last one, and what is over or recent is read by "
        "the clock"
    )


def parse_when(value: When, *, name: str) -> datetime:
    """Turn what a caller gave into an aware UTC time.

    Args:
        value: An aware datetime, or ISO 8601 text; a bare date, a month such as 2024-05 or a year means
            its start in UTC.
        name: The argument's name, for the error message.

    Raises:
        InvalidInputError: The text is not ISO 8601, or the time has no zone.
    """
    moment = _parse_text(value, name) if isinstance(value, str) else value
    if not isinstance(moment, datetime):
        raise InvalidInputError(f"{name}: expected a datetime or ISO 8601 text, got {type(value).__name__}")
    if moment.tzinfo is None:
        raise InvalidInputError(f"{name}: {value!s} has no time zone; say e.g. 2024-05-01T10:00+00:00")
    try:
        return moment.astimezone(UTC)
    except OverflowError as error:
        raise InvalidInputError(f"{name}: {value!s} is outside the years 1 to 9999 in UTC") from error


def _parse_text(value: str, name: str) -> datetime:
    text = value.strip()
    if _YEAR_OR_MONTH.fullmatch(text):
        text += "-01" * (2 if len(text) == len("2024") else 1)
    try:
        if len(text) == len("2024-05-01"):
            return datetime.combine(date.fromisoformat(text), datetime.min.time(), tzinfo=UTC)
        return datetime.fromisoformat(text)
    except ValueError as error:
        raise InvalidInputError(f"{name}: {value[:80]!r} is not an ISO 8601 date or time") from error


def check_interval(start: datetime | None, end: datetime | None, *, name: str) -> None:
    """Raise InvalidInputError where an interval ends before it begins."""
    if start is not None and end is not None and end < start:
        raise InvalidInputError(f"{name}: ends at {end.isoformat()}, before it begins at {start.isoformat()}")
