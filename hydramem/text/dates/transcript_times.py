"""Times as transcripts write them: "1:56 pm on 8 May, 2023", "March-15-2024", epoch seconds."""

import re
from datetime import UTC, datetime

_LONGEST = 64

# Epoch times between 1990 and 2200, in seconds, milliseconds or microseconds.
_EARLIEST, _LATEST = 631_152_000, 7_258_118_400
_NOISE = re.compile(r"\b(?:on|at|of|the)\b|[,;()]", re.IGNORECASE)
_MONTH_DASHES = re.compile(r"([A-Za-z]{3,9})-(\d{1,2})-(\d{4})")


def parse_loose(value: object) -> datetime | None:
    """Return a written time in UTC, or None where it is not a full date.

    A time without a zone is taken as UTC.
    """
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        return _epoch(float(value))
    if not isinstance(value, str) or not 4 < len(value.strip()) <= _LONGEST:
        return None
    text = value.strip()
    if text.replace(".", "", 1).isdigit() and len(text) >= 9:
        return _epoch(float(text))
    try:
        return _utc(datetime.fromisoformat(text))
    except ValueError:
        return _written(text)


def _epoch(seconds: float) -> datetime | None:
    for scale in (1, 1e3, 1e6):
        if _EARLIEST <= seconds / scale <= _LATEST:
            return datetime.fromtimestamp(seconds / scale, UTC)
    return None


def _written(text: str) -> datetime | None:
    from dateutil import parser

    plain = " ".join(_NOISE.sub(" ", _MONTH_DASHES.sub(r"\1 \2 \3", text)).split())
    if not any(character.isdigit() for character in plain):
        return None
    moments = []
    # Read against two calendars: what differs was not written but filled in.
    for default in (datetime(2001, 1, 1), datetime(2002, 2, 2)):
        try:
            moments.append(parser.parse(plain, default=default))
        except (ValueError, OverflowError, TypeError):
            return None
    return _utc(moments[0]) if moments[0] == moments[1] else None


def _utc(moment: datetime) -> datetime | None:
    try:
        return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    except OverflowError:
        return None
