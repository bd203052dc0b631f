"""Days that a question names: calendar dates and relative times, in English, German and Spanish."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Literal

from hydramem.text.normalize import folded

_MOST_CHARACTERS = 4096

# What happens is told of within days.
_TOLD_WITHIN = timedelta(days=3)

_ANY_YEAR = 2024  # a leap year: each day of every year is in it

_MONTH_NAMES = (
    *("january januar enero", "february februar febrero", "march marz marzo", "april abril", "may mai mayo"),
    *("june juni junio", "july juli julio", "august agosto", "september septiembre setiembre"),
    *("october oktober octubre", "november noviembre", "december dezember diciembre"),
)

_MONTHS = {name: number for number, names in enumerate(_MONTH_NAMES, start=1) for name in names.split()}

_MONTH = rf"(?P<month>{'|'.join(_MONTHS)})"

_DAY = r"(?P<day>[0-3]?\d)(?:st|nd|rd|th|\.)?"

_YEAR = r"(?P<year>(?:19|20)\d\d)"

_OF = r"(?:, ?| of | de | del | )"

# `may` alone is more often a verb.
_MONTH_ALONE = rf"(?:(?<=\bin )|(?<=\bof )|(?<=\blast )|(?<=\bsince )|(?<=\bduring )|(?!may\b)){_MONTH}"

_CALENDAR = tuple(
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

_Unit = Literal["day", "week", "month", "year"]

_UNIT_NAMES: Mapping[_Unit, str] = {
    "day": "day days tag tage tagen dia dias",
    "week": "week weeks woche wochen semana semanas",
    "month": "month months monat monate monaten mes meses",
    "year": "year years jahr jahre jahren ano anos",
}

_UNITS = {name: unit for unit, names in _UNIT_NAMES.items() for name in names.split()}

_UNIT = rf"(?P<unit>{'|'.join(sorted(_UNITS, key=len, reverse=True))})"

_NUMBER_NAMES = "a an one ein einem einer un una", "two zwei dos", "three drei tres", "four vier cuatro"

_NUMBERS = {name: number for number, names in enumerate(_NUMBER_NAMES, start=1) for name in names.split()}

_COUNT = rf"(?P<count>\d{{1,3}}|{'|'.join(_NUMBERS)})"

# Each with how many units back it means; where None, the text says it.
_RELATIVE = tuple(
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
        """Say whether a moment lies in it, or so soon after that what happened then is told of."""
        if not self.every_year:
            return self.start <= moment < self.end + _TOLD_WITHIN
        in_year = moment.replace(year=_ANY_YEAR)
        # New Year's Day is also soon after the 31st of December.
        return any(
            self.start <= at < self.end + _TOLD_WITHIN for at in (in_year, in_year + timedelta(days=366))
        )


def dates_in(query: str, at: datetime | None) -> tuple[Dated, ...]:
    """Find the dates in a query, in its order; the work is in its length.

    Args:
        query: Any text.
        at: The moment that `yesterday` and the like are taken from; None leaves them out.
    """
    text = " ".join(folded(query[:_MOST_CHARACTERS]).split())
    found: dict[tuple[int, int], Dated] = {}
    for match, dated in (*_calendar(text), *(_relative(text, at) if at is not None else ())):
        if not any(start < match.end() and match.start() < end for start, end in found):
            found[match.span()] = dated
    return tuple(found[span] for span in sorted(found))


def _calendar(text: str) -> Iterator[tuple[re.Match[str], Dated]]:
    for match in (match for pattern in _CALENDAR for match in pattern.finditer(text)):
        said = match.groupdict()
        month = _MONTHS.get(said.get("month") or "", int(said.get("number") or 0))
        unit: _Unit = "day" if said.get("day") else "month" if month else "year"
        year = int(said.get("year") or _ANY_YEAR)
        try:
            start, end = _period(datetime(year, month or 1, int(said.get("day") or 1), tzinfo=UTC), unit)
        except (ValueError, OverflowError):
            continue  # the 31st of June, or the year 0
        yield match, Dated(text=match.group(), start=start, end=end, every_year=said.get("year") is None)


def _relative(text: str, at: datetime) -> Iterator[tuple[re.Match[str], Dated]]:
    for back, match in ((back, match) for back, pattern in _RELATIVE for match in pattern.finditer(text)):
        said = match.groupdict()
        unit = _UNITS[said["unit"]] if said.get("unit") else "day"
        if back is None:
            back = _NUMBERS[said["count"]] if said["count"] in _NUMBERS else int(said["count"])
        try:
            start, end = _period(at, unit, back)
        except (ValueError, OverflowError):
            continue  # before the year 1
        yield match, Dated(text=match.group(), start=start, end=end)


def _period(moment: datetime, unit: _Unit, back: int = 0) -> tuple[datetime, datetime]:
    """Return the calendar day, week, month or year of a moment, or so many before it."""
    day = moment.replace(hour=0, minute=0, second=0, microsecond=0)
    if unit == "day" or unit == "week":
        length = timedelta(days=1 if unit == "day" else 7)
        start = day - back * length - timedelta(days=day.weekday() if unit == "week" else 0)
        return start, start + length
    months = 1 if unit == "month" else 12
    first = (day.year * 12 + day.month - 1 if unit == "month" else day.year * 12) - back * months
    start, end = (day.replace(year=at // 12, month=at % 12 + 1, day=1) for at in (first, first + months))
    return start, end
