"""Moments as people write them: ISO 8601, or words such as "March 2024", "last Friday", "hace tres días".

Words are read in English, German and Spanish by dateparser; what it would only guess at is refused here.
Days, weeks, months and years are those of UTC.
"""

import re
import threading
from datetime import UTC, datetime

from hydramem.core.errors import InvalidInputError
from hydramem.core.time import When, clock, parse_when
from hydramem.text.dates.dates_in_text import calendar_period
from hydramem.text.lexicon import word_rows

_MOST_CHARS = 64
_LEAST_CHARS = 3
_LANGUAGES = ["en", "de", "es"]
_SETTINGS = {
    "TIMEZONE": "UTC",
    "TO_TIMEZONE": "UTC",
    "RETURN_AS_TIMEZONE_AWARE": True,
    "RETURN_TIME_AS_PERIOD": True,
    "PREFER_DATES_FROM": "current_period",
}

_UNITS = ("time", "week", "month", "quarter", "year")  # what dateparser calls otherwise is a day
_ISO_PERIOD = re.compile(r"(\d{4})(-\d{2})?(-\d{2})?")

# What the library reads as something that was hardly meant: a lone number, minutes past no hour, "1990s".
_GUESSES = re.compile(r"[\d\s.,:]+|\d+s")
_SLASHED = re.compile(r"(\d{1,2})[/.](\d{1,2})[/.]\d{2,4}\b")
_WEEKDAYS = {name: names[0] for names in word_rows("calendar", "weekdays") for name in names}
_LAST = r"last|letzte[nrsm]?|vorige[nrsm]?|vergangene[nrsm]?|pasad[oa]"
_NEXT = r"next|n[äa]chste[nrsm]?|kommende[nrsm]?|pr[óo]xim[oa]|que viene"
_WEEKDAY = re.compile(
    rf"(?:on |am |el )?(?:(?P<last>{_LAST})|(?P<next>{_NEXT}))? ?(?P<day>{'|'.join(_WEEKDAYS)})"
    rf" ?(?:(?P<last_after>{_LAST})|(?P<next_after>{_NEXT}))?"
)

_NUMBERS = {
    name: str(number)
    for number, names in enumerate(word_rows("calendar", "numbers_of_callers"), 1)
    for name in names
}
_COUNT = re.compile(rf"\b(hace|dentro de|en|in|vor) ({'|'.join(_NUMBERS)})\b")

# From now on by so much: a length, which ends at this time of day.
_LENGTH = re.compile(r"(?:in|en|dentro de) \d+ \w+")
_COUNTED_BACK = re.compile(r"\bago\b|^vor |^hace ")
_one_at_a_time = threading.Lock()


def moment_or_none(value: When | None, name: str) -> datetime | None:
    """Turn a moment as a caller gave it into an aware UTC time, as `moment`; None where none is given."""
    return None if value is None else moment(value, name=name)


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
    at = at or clock()
    words = _known_forms(value)
    read, unit = _read(value, words, name, at)
    if _LENGTH.fullmatch(words) and read > at:
        return read
    # "Two weeks ago" is a day, not the Monday before it.
    counted_back = _COUNTED_BACK.search(words) and unit != "time"
    return _period(read, "day" if counted_back else unit)[0]


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
    if not _is_iso(value):
        return _period(*_read(value, _known_forms(value), name, at or clock()))
    written = _ISO_PERIOD.fullmatch(value.strip())
    units = ("year", "month", "day")
    unit = units[sum(part is not None for part in written.groups()) - 1] if written else "time"
    return _period(parse_when(value, name=name), unit)


def _is_iso(text: str) -> bool:
    try:
        parse_when(text, name="")
    except InvalidInputError:
        # A time without its zone is an error that says so; it is not read as words.
        return "T" in text and text[:4].isdigit()
    return True


def _known_forms(text: str) -> str:
    """Return words in the forms that the library knows; it lacks some."""
    text = " ".join(text.casefold().split())
    if weekday := _WEEKDAY.fullmatch(text):
        which = "last " if weekday["last"] or weekday["last_after"] else ""
        which = "next " if weekday["next"] or weekday["next_after"] else which
        return which + _WEEKDAYS[weekday["day"]]
    text = re.sub(r"\b(?:vorige|vergangene)([nrsm]?)\b", r"letzte\1", text)
    text = re.sub(r"\bkommende([nrsm]?)\b", r"nächste\1", text)
    return _COUNT.sub(lambda match: f"{match.group(1)} {_NUMBERS[match.group(2)]}", text)


def _read(text: str, words: str, name: str, at: datetime) -> tuple[datetime, str]:
    """Read a date in words.

    Args:
        text: As the caller wrote it, for the error message.
        words: The same in forms that the library knows.
        name: The argument's name, for the error message.
        at: The moment that the words are relative to.

    Returns:
        The moment, and the unit that the words name: time, day, week, month, quarter or year.
    """
    if len(text) > _MOST_CHARS or len(words) < _LEAST_CHARS or _GUESSES.fullmatch(words):
        raise _unreadable(text, name)
    if (slashed := _SLASHED.match(words)) and _ambiguous(*map(int, slashed.groups())):
        raise InvalidInputError(
            f"{name}: {text!r} could be two dates, by which comes first, day or month; write it as 2024-05-31"
        )
    from dateparser.date import DateDataParser

    base = at.astimezone(UTC).replace(tzinfo=None, microsecond=0)
    with _one_at_a_time:
        try:
            parser = DateDataParser(languages=_LANGUAGES, settings={**_SETTINGS, "RELATIVE_BASE": base})
            read = parser.get_date_data(words)
        except (ValueError, OverflowError) as error:  # "in 99999 years"
            raise _unreadable(text, name) from error
    if read.date_obj is None:
        raise _unreadable(text, name)
    return read.date_obj.astimezone(UTC), read.period if read.period in _UNITS else "day"


def _ambiguous(first: int, second: int) -> bool:
    return first != second and first <= 12 and second <= 12


def _unreadable(text: str, name: str) -> InvalidInputError:
    return InvalidInputError(
        f"{name}: {text[:80]!r} is no date or time that can be read; write it as 2024-05-31, or say "
        "it like 'last Friday', 'March 2024' or 'in 30 days'"
    )


def _period(moment: datetime, unit: str) -> tuple[datetime, datetime]:
    """Return the calendar period that a moment is in; a time is its own."""
    if unit == "time":
        return moment, moment
    try:
        return calendar_period(moment, unit)
    except (ValueError, OverflowError):  # at either end of the calendar
        day = moment.replace(hour=0, minute=0, second=0, microsecond=0)
        return day, datetime.max.replace(tzinfo=UTC)
