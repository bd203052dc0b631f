"""The clock of a year that is made up: what the package takes for the present."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, date, datetime, tzinfo
from datetime import time as time_of_day
from typing import Any

from hydramem.core import time

BEFORE = datetime(2024, 12, 1, tzinfo=UTC)
"""When what has no ailment is stored."""

FIRST_NIGHT = datetime(2026, 1, 5, 3, tzinfo=UTC)


class _AnyTime(type):
    """Takes every datetime for an instance: the package checks what it is given."""

    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, datetime)


@contextmanager
def present(moment: datetime) -> Iterator[None]:
    """Let the package's clock start at a moment; it goes on from there at its usual pace.

    Args:
        moment: Aware; not before the last write of a store that is opened, or its writes stay behind it.
    """
    offset = moment - datetime.now(UTC)

    class Clock(datetime, metaclass=_AnyTime):
        @classmethod
        def now(cls, tz: tzinfo | None = None) -> Any:
            return datetime.now(tz) + offset

        @classmethod
        def fromisoformat(cls, text: str, /) -> Any:
            return datetime.fromisoformat(text)

        @classmethod
        def combine(cls, day: date, at: time_of_day, tzinfo: Any = UTC) -> Any:
            return datetime.combine(day, at, tzinfo=tzinfo)

    # The package reads the clock through this name of one module alone.
    real, last = vars(time)["datetime"], time._last
    vars(time)["datetime"] = Clock
    time._last = datetime.min.replace(tzinfo=UTC)
    try:
        yield
    finally:
        vars(time)["datetime"] = real
        time._last = last


def noon(day: date) -> datetime:
    """Return the middle of a day."""
    return datetime.combine(day, time_of_day(12), tzinfo=UTC)
