"""Schedules of the gardener: a cron expression as a systemd timer, a launchd agent, or a crontab line."""

import plistlib
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

from hydramem.core.errors import InvalidInputError
from hydramem.text.lexicon import MONTHS

_BOUNDS = {"minute": (0, 59), "hour": (0, 23), "day": (1, 31), "month": (1, 12), "weekday": (0, 7)}
_WEEKDAYS = ("sun", "mon", "tue", "wed", "thu", "fri", "sat")
_NAMES = {"month": ("", *(month[:3] for month in MONTHS)), "weekday": _WEEKDAYS}
_MOST_INTERVALS = 366
_TIMES_KEY = "HydraMemTimes"  # launchd passes over keys that it does not know
_DESCRIPTION = "HydraMem: the gardener, "


@dataclass(frozen=True, slots=True, kw_only=True)
class ScheduleTimes:
    """The minutes at which something runs; None means every value of a field.

    Attributes:
        expression: The cron expression.
        weekday: 0 is Sunday.
    """

    expression: str
    minute: tuple[int, ...] | None
    hour: tuple[int, ...] | None
    day: tuple[int, ...] | None
    month: tuple[int, ...] | None
    weekday: tuple[int, ...] | None


def parse(expression: str) -> ScheduleTimes:
    """Read a cron expression: minute, hour, day, month, weekday; lists, ranges, steps and English names.

    Raises:
        InvalidInputError: It is not one, or no day is like that.
    """
    parts = expression.split()
    if len(parts) != len(_BOUNDS):
        raise InvalidInputError(
            f"schedule: {expression[:80]!r} is no cron expression: minute, hour, day, month and weekday, "
            'such as "0 3 * * *" for every night at three'
        )
    fields = {name: _field(name, part, expression) for name, part in zip(_BOUNDS, parts, strict=True)}
    weekdays = fields["weekday"]
    if weekdays is not None:
        fields["weekday"] = tuple(sorted({day % 7 for day in weekdays}))
    times = ScheduleTimes(expression=" ".join(parts), **fields)
    if times.weekday is None and times.day and times.month and not _has_day(times.day, times.month):
        raise InvalidInputError(f"schedule: {expression[:80]!r} names a day that no month has")
    return times


def _has_day(days: Sequence[int], months: Sequence[int]) -> bool:
    longest = {2: 29, 4: 30, 6: 30, 9: 30, 11: 30}
    return any(day <= longest.get(month, 31) for day, month in product(days, months))


def _field(name: str, text: str, expression: str) -> tuple[int, ...] | None:
    if text == "*":
        return None
    low, high = _BOUNDS[name]
    found: set[int] = set()
    for part in text.split(","):
        span, _, step = part.partition("/")
        first, dash, last = span.partition("-")
        try:
            begin = low if span == "*" else _number(name, first)
            end = high if span == "*" or (step and not dash) else _number(name, last if dash else first)
            stride = int(step) if step else 1
        except ValueError:
            begin, end, stride = high, low, 1
        if not (low <= begin <= end <= high and stride >= 1):
            raise InvalidInputError(
                f"schedule: {part[:40]!r} in {expression[:80]!r} is no {name}: {low} to {high}, "
                "lists with commas, ranges with a dash, steps with a slash"
            )
        found.update(range(begin, end + 1, stride))
    return None if name != "weekday" and len(found) == high - low + 1 else tuple(sorted(found))


def _number(name: str, text: str) -> int:
    names, word = _NAMES.get(name, ()), text.casefold()
    if word in names:
        return names.index(word)
    return int(text) if text.isascii() and text.isdecimal() else -1


def on_calendar(times: ScheduleTimes) -> tuple[str, ...]:
    """Return systemd's `OnCalendar` expressions; two where cron runs on the day or on the weekday."""
    clock = f"{_listed(times.hour)}:{_listed(times.minute)}:00"
    month, weekday = _listed(times.month), times.weekday
    every_week = None if weekday is None else ",".join(_WEEKDAYS[day].capitalize() for day in weekday)
    by_day = f"*-{month}-{_listed(times.day)} {clock}"
    if every_week is None:
        return (by_day,)
    by_week = f"{every_week} *-{month}-* {clock}"
    return (by_week,) if times.day is None else (by_day, by_week)


def _listed(values: Sequence[int] | None) -> str:
    return "*" if values is None else ",".join(f"{value:02}" for value in values)


def systemd_units(times: ScheduleTimes, command: Sequence[str], *, name: str) -> dict[str, str]:
    """Return the files of a user's timer and its service, by file name."""
    # A percent sign is special to systemd.
    line = shlex.join(command).replace("%", "%%")
    service = (
        "[Unit]\nDescription=HydraMem: a run of the gardener\n\n"
        f"[Service]\nType=oneshot\nExecStart={line}\nNice=10\n"
    )
    calendar = "".join(f"OnCalendar={one}\n" for one in on_calendar(times))
    timer = (
        f"[Unit]\nDescription={_DESCRIPTION}{times.expression}\n\n"
        f"[Timer]\n{calendar}Persistent=true\n\n[Install]\nWantedBy=timers.target\n"
    )
    return {f"{name}.service": service, f"{name}.timer": timer}


def launchd_plist(times: ScheduleTimes, command: Sequence[str], *, name: str) -> bytes:
    """Return the property list of a user's launch agent.

    Raises:
        InvalidInputError: It would take more start times than a property list should have.
    """
    keys = {"Minute": times.minute, "Hour": times.hour, "Month": times.month}
    days = [{"Day": times.day}, {"Weekday": times.weekday}]
    # As in cron, either the day or the weekday must match.
    given = [one for one in days if next(iter(one.values())) is not None] or [{"Day": None}]
    intervals = [interval for one in given for interval in _intervals({**keys, **one})]
    if len(intervals) > _MOST_INTERVALS:
        raise InvalidInputError(
            f"schedule: {times.expression!r} is {len(intervals)} start times a year for launchd; "
            "name the hour and the minute"
        )
    return plistlib.dumps(
        {
            "Label": name,
            _TIMES_KEY: times.expression,
            "ProgramArguments": list(command),
            "StartCalendarInterval": intervals,
            "LowPriorityIO": True,
            "Nice": 10,
        }
    )


def _intervals(keys: dict[str, tuple[int, ...] | None]) -> list[dict[str, int]]:
    given = {key: values for key, values in keys.items() if values is not None}
    return [dict(zip(given, each, strict=True)) for each in product(*given.values())]


def crontab_line(times: ScheduleTimes, command: Sequence[str], *, name: str) -> str:
    """Return the line of a crontab, with a comment by which it is found again."""
    # To cron a percent sign ends the line.
    return f"{times.expression} {shlex.join(command)} # {name}".replace("%", r"\%")


def with_line(crontab: str, line: str | None, *, name: str) -> str:
    """Return a crontab with the line of this name replaced or removed; other lines stay as they are."""
    kept = [each for each in crontab.splitlines() if not each.endswith(f"# {name}")]
    return "".join(f"{each}\n" for each in (*kept, *((line,) if line else ())))


def in_crontab(crontab: str, prefix: str) -> dict[str, tuple[str, str]]:
    """Return the times and command of the lines whose name has a prefix, by name."""
    found = {}
    for line in crontab.splitlines():
        rest, mark, name = line.rpartition(" # ")
        if mark and name.startswith(prefix) and not line.lstrip().startswith("#"):
            parts = rest.replace(r"\%", "%").split(maxsplit=len(_BOUNDS))
            found[name] = " ".join(parts[: len(_BOUNDS)]), "".join(parts[len(_BOUNDS) :])
    return found


def in_systemd_units(timer: str, service: str) -> tuple[str, str]:
    """Return the times and the command of a user's timer and its service; empty where a file lacks them."""
    described, started = f"Description={_DESCRIPTION}", "ExecStart="
    times = (line.removeprefix(described) for line in timer.splitlines() if line.startswith(described))
    commands = (line.removeprefix(started) for line in service.splitlines() if line.startswith(started))
    return next(times, ""), next(commands, "").replace("%%", "%")


def in_launchd_plist(plist: bytes) -> tuple[str, str]:
    """Return the times and the command of a user's launch agent."""
    try:
        agent = plistlib.loads(plist)
    except (plistlib.InvalidFileException, ValueError):
        return "", ""
    return str(agent.get(_TIMES_KEY, "")), shlex.join(map(str, agent.get("ProgramArguments", ())))
