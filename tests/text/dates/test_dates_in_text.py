from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hydramem.text.dates.dates_in_text import dates_in

AT = datetime(2024, 3, 15, 12, tzinfo=UTC)  # a Friday


def day(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


@pytest.mark.parametrize(
    ("query", "start", "end"),
    [
        ("What did Ada buy on May 3, 2023?", "2023-05-03", "2023-05-04"),
        ("in December 2023", "2023-12-01", "2024-01-01"),
        ("am 3. März 2024", "2024-03-03", "2024-03-04"),
        ("yesterday", "2024-03-14", "2024-03-15"),
        ("hace 2 semanas", "2024-02-26", "2024-03-04"),
        ("this year", "2024-01-01", "2025-01-01"),
    ],
)
def test_a_date_is_from_when_until_when(query: str, start: str, end: str) -> None:
    (found,) = dates_in(query, AT)
    assert (found.start, found.end, found.every_year) == (day(start), day(end), False)


def test_a_day_without_a_year_is_of_any_year() -> None:
    (found,) = dates_in("on December 31", AT)
    told = ("2019-12-31", "2020-01-02", "2021-06-01", "2021-12-30")
    assert [found.covers(day(moment)) for moment in told] == [True, True, False, False]
    (leap,) = dates_in("29 February", AT)
    assert leap.covers(day("2023-03-01")) and leap.covers(day("2024-02-29"))


def test_what_is_no_date() -> None:
    assert dates_in("may I see room 2024b, the marching band and 12 apples?", AT) == ()
    assert [one.text for one in dates_in("may I come in May?", AT)] == ["may"]
    assert dates_in("yesterday", None) == () and dates_in("on the 2099-13-01", AT)[0].text == "2099"


@given(
    st.text(alphabet="may 0123-,of2024agolstyerweekdñ.", max_size=60), st.datetimes(timezones=st.just(UTC))
)
def test_any_text_at_any_moment(query: str, moment: datetime) -> None:
    for dated in dates_in(query, moment):
        assert dated.start < dated.end
        dated.covers(moment)
