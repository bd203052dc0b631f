"""Moments as people write them: ISO 8601, or words such as "March 2024", "last Friday", "hace tres días".

Words are read in English, German and Spanish by dateparser; what it would only guess at is refused here.
Days, weeks, months and years are those of UTC.
"""

import re
import threading
from datetime import UTC, datetime, timedelta
from typing import Literal

from hydramem.core.errors import InvalidInputError
from hydramem.core.time import When, now, parse_when

_MOST_CHARS = 64

_LEAST_CHARS = 3

_LANGUAGES = ["en", "de", "es"]

_Unit = Literal["time", "day", "week", "month", "quarter", "year"]

_MONTHS: dict[str, int] = {"month": 1, "quarter": 3, "year": 12}

_ISO_PERIOD = re.compile(r"(\d{4})(-\d{2})?(-\d{2})?")

# What the library reads as something that was hardly meant: a lone number, minutes past no hour, "1990s".
_GUESSES = re.compile(r"[\d\s.,:]+|\d+s")

_SLASHED = re.compile(r"(\d{1,2})[/.](\d{1,2})[/.]\d{2,4}\b")

_DAY_NAMES = (
    *("monday montag lunes", "tuesday dienstag martes", "wednesday mittwoch miércoles miercoles"),
    *("thursday donnerstag jueves", "friday freitag viernes"),
    *("saturday samstag sonnabend sábado sabado", "sunday sonntag domingo"),
)

_WEEKDAYS = {name: names.split()[0] for names in _DAY_NAMES for name in names.split()}

_LAST = r"last|letzte[nrsm]?|vorige[nrsm]?|vergangene[nrsm]?|pasad[oa]"

_NEXT = r"next|n[äa]chste[nrsm]?|kommende[nrsm]?|pr[óo]xim[oa]|que viene"

_WEEKDAY = re.compile(
    rf"(?:on |am |el )?(?:(?P<last>{_LAST})|(?P<next>{_NEXT}))? ?(?P<day>{'|'.join(_WEEKDAYS)})"
    rf" ?(?:(?P<last_after>{_LAST})|(?P<next_after>{_NEXT}))?"
)

_SPANISH_NUMBERS = "un una|dos|tres|cuatro|cinco|seis|siete|ocho|nueve|diez|once|doce"

_NUMBERS = {
    name: str(number) for number, names in enumerate(_SPANISH_NUMBERS.split("|"), 1) for name in names.split()
} | {"a": "1", "an": "1", "einem": "1", "einer": "1"}

_COUNT = re.compile(rf"\b(hace|dentro de|en|in|vor) ({'|'.join(_NUMBERS)})\b")

# From now on by so much: a length, which ends at this time of day.
_LENGTH = re.compile(r"(?:in|en|dentro de) \d+ \w+")

_COUNTED_BACK = re.compile(r"\bago\b|^vor |^hace ")

_one_at_a_time = threading.Lock()


def moment(value: When, *, name: str, at: datetime | None = None) -> datetime:
    """Turn a moment as a caller gave it into an aware UTC time.

    A day, week, month or year means its start; "in 30 days" ends at this time of day.

    Args:
        value: An aware datetime, ISO 8601 text, or words in English, German or Spanish.
        name: The argument's name, for the error message.
        at: The moment that words are relative to; now where not given.

    Raises:
        InvalidInputError: It is none of these, or it could be two dates.
    """
    if not isinstance(value, str) or _is_iso(value):
        return parse_when(value, name=name)
    found, unit = _read(value, name, at or now())
    if _LENGTH.fullmatch(_plain(value)) and found > (at or now()):
        return found
    # "Two weeks ago" is a day, not the Monday before it.
    counted = _COUNTED_BACK.search(_plain(value)) and unit != "time"
    return _period(found, "day" if counted else unit)[0]


def stretch(value: When, *, name: str, at: datetime | None = None) -> tuple[datetime, datetime]:
    """Turn a stretch of time as a caller gave it into its start, and the moment at which it is over.

    Args:
        value: As for `moment`; what names a moment alone is over as it begins.
        name: The argument's name, for the error message.
        at: The moment that words are relative to; now where not given.

    Raises:
        InvalidInputError: It is none of these, or it could be two dates.
    """
    if not isinstance(value, str):
        only = parse_when(value, name=name)
        return only, only
    if _is_iso(value):
        written = _ISO_PERIOD.fullmatch(value.strip())
        units: tuple[_Unit, ...] = ("year", "month", "day")
        unit = units[sum(part is not None for part in written.groups()) - 1] if written else "time"
        return _period(parse_when(value, name=name), unit)
    return _period(*_read(value, name, at or now()))


def _is_iso(text: str) -> bool:
    try:
        parse_when(text, name="")
    except InvalidInputError:
        # A time without its zone is told so, not read as words.
        return "T" in text and text[:4].isdigit()
    return True


def _plain(text: str) -> str:
    """Return words as the library knows them: some of their forms it lacks."""
    text = " ".join(text.casefold().split())
    if weekday := _WEEKDAY.fullmatch(text):
        said = weekday.groupdict()
        which = "last " if said["last"] or said["last_after"] else ""
        which = "next " if said["next"] or said["next_after"] else which
        return which + _WEEKDAYS[said["day"]]
    text = re.sub(r"\b(?:vorige|vergangene)([nrsm]?)\b", r"letzte\1", text)
    text = re.sub(r"\bkommende([nrsm]?)\b", r"nächste\1", text)
    return _COUNT.sub(lambda match: f"{match.group(1)} {_NUMBERS[match.group(2)]}", text)


def _read(text: str, name: str, at: datetime) -> tuple[datetime, _Unit]:
    words = _plain(text) if len(text) <= _MOST_CHARS else ""
    if len(words) < _LEAST_CHARS or _GUESSES.fullmatch(words):
        raise _unread(text, name)
    if (slashed := _SLASHED.match(words)) and _either(*map(int, slashed.groups())):
        raise InvalidInputError(
            f"{name}: {text!r} could be two dates, by which comes first, day or month; write it as 2024-05-31"
        )
    from dateparser.date import DateDataParser

    settings = {
        "RELATIVE_BASE": at.astimezone(UTC).replace(tzinfo=None, microsecond=0),
        "TIMEZONE": "UTC",
        "TO_TIMEZONE": "UTC",
        "RETURN_AS_TIMEZONE_AWARE": True,
        "RETURN_TIME_AS_PERIOD": True,
        "PREFER_DATES_FROM": "current_period",
    }
    with _one_at_a_time:
        try:
            found = DateDataParser(languages=_LANGUAGES, settings=settings).get_date_data(words)
        except (ValueError, OverflowError) as error:  # "in 99999 years"
            raise _unread(text, name) from error
    if found.date_obj is None:
        raise _unread(text, name)
    units: dict[str, _Unit] = {"time": "time", "week": "week", "month": "month"}
    units |= {"quarter": "quarter", "year": "year"}
    return found.date_obj.astimezone(UTC), units.get(found.period, "day")


def _either(first: int, second: int) -> bool:
    return first != second and first <= 12 and second <= 12


def _unread(text: str, name: str) -> InvalidInputError:
    return InvalidInputError(
        f"{name}: {text[:80]!r} is no date or time that can be read; write it as 2024-05-31, or say "
        "it like 'last Friday', 'March 2024' or 'in 30 days'"
    )


def _period(moment: datetime, unit: _Unit) -> tuple[datetime, datetime]:
    """Return the calendar period that a moment lies in; a time is its own."""
    if unit == "time":
        return moment, moment
    day = moment.replace(hour=0, minute=0, second=0, microsecond=0)
    try:
        if unit in ("day", "week"):
            start = day - timedelta(days=day.weekday() if unit == "week" else 0)
            return start, start + timedelta(days=1 if unit == "day" else 7)
        months = _MONTHS[unit]
        first = (day.year * 12 + day.month - 1) // months * months
        start, end = (day.replace(year=at // 12, month=at % 12 + 1, day=1) for at in (first, first + months))
    except (ValueError, OverflowError):  # at either end of the calendar
        return day, datetime.max.replace(tzinfo=UTC)
    return start, end
