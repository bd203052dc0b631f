"""Days that a question names: calendar dates and relative times, in English, German and Spanish."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from hydramem.text.lexicon import word_rows
from hydramem.text.normalize import folded

_MOST_CHARACTERS = 4096

# What happens is talked about for some days.
_TALKED_ABOUT = timedelta(days=3)
_ANY_YEAR = 2024  # a leap year: each day of every year is in it
_MONTHS = {name: month for month, names in enumerate(word_rows("calendar", "months"), 1) for name in names}
_UNITS = {name: names[0] for names in word_rows("calendar", "units") for name in names}
_NUMBERS = {
    name: number
    for number, names in enumerate(word_rows("calendar", "numbers_in_questions"), 1)
    for name in names
}

_MONTH = rf"(?P<month>{'|'.join(_MONTHS)})"
_DAY = r"(?P<day>[0-3]?\d)(?:st|nd|rd|th|\.)?"
_YEAR = r"(?P<year>(?:19|20)\d\d)"
_OF = r"(?:, ?| of | de | del | )"

# `may` alone is more often a verb.
_MONTH_ALONE = rf"(?:(?<=\bin )|(?<=\bof )|(?<=\blast )|(?<=\bsince )|(?<=\bduring )|(?!may\b)){_MONTH}"

_CALENDAR_DATES = tuple(
    re.compile(rf"(?<!\w){pattern}(?!\w)")
    for pattern in (
        rf"{_YEAR}-(?P<number>[01]\d)(?:-(?P<day>[0-3]\d))?",
        rf"{_DAY}{_OF}{_MONTH}(?:{_OF}{_YEAR})?",
        rf"{_MONTH} {_DAY}(?:{_OF}{_YEAR})?",
        rf"{_MONTH}{_OF}{_YEAR}",
        _MONTH_ALONE,
        _YEAR,
    )
)

_UNIT = rf"(?P<unit>{'|'.join(sorted(_UNITS, key=len, reverse=True))})"
_COUNT = rf"(?P<count>\d{{1,3}}|{'|'.join(_NUMBERS)})"
_MONTHS_A_UNIT = {"month": 1, "quarter": 3, "year": 12}

# Each with how many units back it means; None where the text says how many.
_RELATIVE_DATES = tuple(
    (back, re.compile(rf"(?<!\w){pattern}(?!\w)"))
    for back, pattern in (
        (0, "(?:today|heute|hoy)"),
        (1, "(?:yesterday|gestern|ayer)"),
        (None, f"{_COUNT} {_UNIT} ago"),
        (None, f"(?:vor|hace) {_COUNT} {_UNIT}"),
        (1, f"(?:last|letzte[nrs]?|vorige[nrs]?) {_UNIT}"),
        (1, f"{_UNIT} pasad[oa]"),
        (0, f"(?:this|diese[nrs]?|est[ae]) {_UNIT}"),
    )
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Dated:
    """A stretch of time that a question names.

    Attributes:
        text: Its words, folded.
        start, end: From when until before when; of any year where `every_year`.
    """

    text: str
    start: datetime
    end: datetime
    every_year: bool = False

    def covers(self, moment: datetime) -> bool:
        """Say whether a moment is in it, or so soon after that people still talk about it."""
        if not self.every_year:
            return self.start <= moment < self.end + _TALKED_ABOUT
        in_year = moment.replace(year=_ANY_YEAR)
        # New Year's Day is also soon after the 31st of December.
        return any(
            self.start <= at < self.end + _TALKED_ABOUT for at in (in_year, in_year + timedelta(days=366))
        )


def dates_in(query: str, at: datetime | None) -> tuple[Dated, ...]:
    """Find the dates in a query, in its order; the work is in its length.

    Args:
        at: The moment that `yesterday` and the like are taken from; None leaves them out.
    """
    text = " ".join(folded(query[:_MOST_CHARACTERS]).split())
    found: dict[tuple[int, int], Dated] = {}
    for match, dated in (*_calendar_dates(text), *(_relative_dates(text, at) if at is not None else ())):
        if not any(start < match.end() and match.start() < end for start, end in found):
            found[match.span()] = dated
    return tuple(found[span] for span in sorted(found))


def _calendar_dates(text: str) -> Iterator[tuple[re.Match[str], Dated]]:
    for match in (match for pattern in _CALENDAR_DATES for match in pattern.finditer(text)):
        groups = match.groupdict()
        year, day = groups.get("year"), groups.get("day")
        month = _MONTHS.get(groups.get("month") or "", int(groups.get("number") or 0))
        try:
            first = datetime(int(year or _ANY_YEAR), month or 1, int(day or 1), tzinfo=UTC)
            start, end = calendar_period(first, "day" if day else "month" if month else "year")
        except (ValueError, OverflowError):
            continue  # the 31st of June, or the year 0
        yield match, Dated(text=match.group(), start=start, end=end, every_year=year is None)


def _relative_dates(text: str, at: datetime) -> Iterator[tuple[re.Match[str], Dated]]:
    matches = ((match, back) for back, pattern in _RELATIVE_DATES for match in pattern.finditer(text))
    for match, back in matches:
        groups = match.groupdict()
        if back is None:
            back = _NUMBERS.get(groups["count"]) or int(groups["count"])
        try:
            start, end = calendar_period(at, _UNITS[groups.get("unit") or "day"], back)
        except (ValueError, OverflowError):
            continue  # before the year 1
        yield match, Dated(text=match.group(), start=start, end=end)


def calendar_period(moment: datetime, unit: str, back: int = 0) -> tuple[datetime, datetime]:
    """Return where the day, week, month, quarter or year of a moment starts and ends, or one before it.

    Args:
        moment: Any moment; the period is one of its own time zone.
        unit: day, week, month, quarter or year.
        back: How many periods before the moment's own.

    Raises:
        ValueError, OverflowError: It starts or ends outside the calendar.
    """
    day = moment.replace(hour=0, minute=0, second=0, microsecond=0)
    if unit in ("day", "week"):
        length = timedelta(days=1 if unit == "day" else 7)
        start = day - back * length - timedelta(days=day.weekday() if unit == "week" else 0)
        return start, start + length
    months = _MONTHS_A_UNIT[unit]
    first = ((day.year * 12 + day.month - 1) // months - back) * months
    start, end = (day.replace(year=at // 12, month=at % 12 + 1, day=1) for at in (first, first + months))
    return start, end
