import threading
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hydramem.core.errors import InvalidInputError
from hydramem.core.time import advance_past, check_interval, now, parse_when


def test_moments_become_utc():
    for given_, expected in (
        ("2024-05-01", datetime(2024, 5, 1, tzinfo=UTC)),
        ("2024", datetime(2024, 1, 1, tzinfo=UTC)),
        (" 2024-05-01 ", datetime(2024, 5, 1, tzinfo=UTC)),
        ("2024-05-01T10:00+02:00", datetime(2024, 5, 1, 8, tzinfo=UTC)),
        ("2024-05-01T10:00Z", datetime(2024, 5, 1, 10, tzinfo=UTC)),
        (datetime(2024, 5, 1, 3, tzinfo=timezone(-timedelta(hours=3))), datetime(2024, 5, 1, 6, tzinfo=UTC)),
    ):
        parsed = parse_when(given_, name="as_of")
        assert (parsed, parsed.tzinfo) == (expected, UTC)


def test_what_is_not_a_moment_is_refused_by_name():
    for wrong in (
        *("", "yesterday", "2024-13-01", "2024-13", "0000", "٢٠٢٤-13", "2024-05-01T10:00", "\x00"),
        *(datetime(2024, 5, 1), "0001-01-01T00:00+14:00", "x" * 10**6),
    ):
        with pytest.raises(InvalidInputError, match=r"^as_of: ") as caught:
            parse_when(wrong, name="as_of")
        assert len(str(caught.value)) < 300
    for wrong in (None, 5, 1.5, b"2024-05-01"):
        with pytest.raises(InvalidInputError, match="expected a datetime"):
            parse_when(wrong, name="as_of")


@given(st.datetimes(timezones=st.timezones(), min_value=datetime(2, 1, 1), max_value=datetime(9998, 1, 1)))
def test_text_and_value_mean_the_same(moment):
    if moment.utcoffset().seconds % 60 == 0:  # ISO 8601 text of old zones may carry seconds
        assert parse_when(moment.isoformat(), name="x") == parse_when(moment, name="x")


def test_now_never_repeats_in_any_thread():
    seen: list[datetime] = []

    def ask() -> None:
        seen.extend(now() for _ in range(500))

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(seen)) == len(seen) == 2000


def test_now_stays_ahead_of_what_a_store_recorded():
    ahead = now() + timedelta(seconds=2)
    advance_past(ahead)
    assert now() > ahead


def test_an_interval_may_be_open_or_empty_but_not_backwards():
    early, late = datetime(2024, 1, 1, tzinfo=UTC), datetime(2024, 1, 2, tzinfo=UTC)
    for start, end in ((None, None), (early, None), (None, late), (early, late), (early, early)):
        check_interval(start, end, name="valid")
    with pytest.raises(InvalidInputError, match="valid: ends at"):
        check_interval(late, early, name="valid")
