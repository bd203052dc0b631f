"""Moments in words: what they mean on one day, and what is refused instead of guessed at."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hydramem.core.errors import InvalidInputError
from hydramem.text.dates.caller_dates import moment, stretch
from tests.examples import FEW

AT = datetime(2026, 11, 18, 15, 30, tzinfo=UTC)  # a Wednesday


@pytest.mark.parametrize(
    ("words", "start", "end"),
    [
        ("2024", "2024-01-01", "2025-01-01"),
        ("2024-05-31", "2024-05-31", "2024-06-01"),
        ("March 2024", "2024-03-01", "2024-04-01"),
        ("3 de mayo de 2024", "2024-05-03", "2024-05-04"),
        ("31/05/2024", "2024-05-31", "2024-06-01"),
        ("yesterday", "2026-11-17", "2026-11-18"),
        ("kommende Woche", "2026-11-23", "2026-11-30"),
        ("hace tres días", "2026-11-15", "2026-11-16"),
        ("two weeks ago", "2026-11-02", "2026-11-09"),
        ("last Friday", "2026-11-13", "2026-11-14"),
    ],
)
def test_words_are_stretches_of_the_calendar(words: str, start: str, end: str) -> None:
    found = stretch(words, name="start", at=AT)
    assert [f"{each:%Y-%m-%d %H:%M}" for each in found] == [f"{start} 00:00", f"{end} 00:00"]
    if "ago" not in words:
        assert moment(words, name="start", at=AT) == found[0]


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("in 30 days", AT + timedelta(days=30)),
        ("in einem Monat", datetime(2026, 12, 18, 15, 30, tzinfo=UTC)),
        ("in 2 hours", AT + timedelta(hours=2)),
        ("yesterday at 3pm", datetime(2026, 11, 17, 15, tzinfo=UTC)),
        ("two weeks ago", datetime(2026, 11, 4, tzinfo=UTC)),
        ("2024-05-01T10:00+02:00", datetime(2024, 5, 1, 8, tzinfo=UTC)),
        ("May 2024", datetime(2024, 5, 1, tzinfo=UTC)),
        (AT, AT),
    ],
)
def test_words_are_moments(words: str | datetime, expected: datetime) -> None:
    assert moment(words, name="happened_at", at=AT) == expected


@pytest.mark.parametrize(
    "words",
    [
        *(" ", "12", "10:00", "1990s", "someday", "03/05/2024", "3.5.2024", "I like may", "\x00"),
        *("\ud800", "x" * 5000, "in 99999 years", "2024-05-01T10:00", "last", "12345678", "0000-00-00"),
    ],
)
def test_what_could_mean_anything_is_refused_by_name(words: str) -> None:
    for read in (moment, stretch):
        with pytest.raises(InvalidInputError, match="happened_at: "):
            read(words, name="happened_at", at=AT)


@FEW
@given(st.one_of(st.text(max_size=30), st.from_regex(r"(in|hace|vor|last) [0-9a-z]{1,8} (days|años|Wochen)")))
def test_any_text_is_a_moment_in_utc_or_a_clear_error(text: str) -> None:
    try:
        start, end = stretch(text, name="start", at=AT)
    except InvalidInputError as error:
        assert str(error).startswith("start: ")
    else:
        assert start <= end
        assert start.tzinfo == end.tzinfo == UTC
