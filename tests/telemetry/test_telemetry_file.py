"""The file of telemetry: what is folded counts as before, its size is bounded, and damage costs no more."""

import sqlite3
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hydramem.telemetry.telemetry_file import CallRow, TelemetryFile
from tests.examples import FEW

TODAY = date(2026, 11, 23)


def row(days_ago: int, ms: float = 3.0, *, outcome: str = "", tokens: int | None = 7) -> CallRow:
    at = datetime(2026, 11, 23, 12, tzinfo=UTC) - timedelta(days=days_ago)
    known = {"hits": 2, "relevance": 0.5, "answered": 1, "tokens": tokens, "baseline": 90} if tokens else {}
    return CallRow(int(at.timestamp() * 1000), "recall", "cli", outcome, ms, **known)


def day(days_ago: int) -> str:
    return (TODAY - timedelta(days=days_ago)).isoformat()


@pytest.fixture
def kept(tmp_path: Path) -> Iterator[TelemetryFile]:
    file = TelemetryFile(tmp_path / "telemetry.db")
    yield file
    file.close()


ROWS = st.lists(
    st.builds(
        row,
        st.integers(0, 9),
        st.floats(0.01, 1e5),
        outcome=st.sampled_from(["", "StorageError"]),
        tokens=st.sampled_from([None, 5, 1000]),
    ),
    max_size=30,
)


@FEW
@given(ROWS, ROWS, st.lists(st.integers(0, 10), max_size=3))
def test_folding_changes_no_total(first: list[CallRow], second: list[CallRow], folds: list[int]) -> None:
    folded, plain = TelemetryFile(None), TelemetryFile(None)
    plain.add([*first, *second], {})
    folded.add(first, {})
    for days_ago in folds:
        folded.fold(day(days_ago))
    folded.add(second, {})
    for days_ago in folds:
        folded.fold(day(days_ago))
    for since in ("", day(4)):
        expected = plain.totals(since)
        found = folded.totals(since)
        assert found.keys() == expected.keys()
        for key, totals in expected.items():
            assert found[key].relevance == pytest.approx(totals.relevance)
            found[key].relevance = totals.relevance
            assert found[key] == totals
    folded.close()
    plain.close()


@pytest.mark.costly
def test_the_file_stays_near_its_bound_and_no_call_is_forgotten(kept: TelemetryFile) -> None:
    bound = 100_000
    for days_ago in range(40, 0, -1):
        kept.add([row(days_ago, ms=float(place + 1)) for place in range(400)], {})
        kept.shrink(bound)
    assert kept.calls() == 16_000
    kept.close()  # which copies the log into the file
    assert kept.bytes() <= 1.5 * bound
    kept.shrink(1)
    assert {key.day for key in kept.totals("")} == {day(1)}  # the last day stays, whatever the bound


def test_a_damaged_file_is_set_aside_once_and_a_new_one_is_begun(
    kept: TelemetryFile, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "telemetry.db").write_bytes(b"no database" * 1000)
    kept.add([row(0)], {})
    assert kept.calls() == 1
    assert (tmp_path / "telemetry.damaged.db").read_bytes().startswith(b"no database")
    assert len(caplog.records) == 1
    kept.delete()
    assert list(tmp_path.iterdir()) == []
    kept.add([row(0) for _ in range(2000)], {})
    kept.close()
    data = (tmp_path / "telemetry.db").read_bytes()
    (tmp_path / "telemetry.db").write_bytes(data[:4096].ljust(len(data), b"\xff"))
    kept.add([row(0)], {})
    assert kept.calls() == 1, "pages that were overwritten are damage too"
    assert (tmp_path / "telemetry.damaged.db").exists()


def test_a_file_of_a_newer_version_is_left_as_it_is(kept: TelemetryFile, tmp_path: Path) -> None:
    newer = sqlite3.connect(tmp_path / "telemetry.db")
    newer.execute("PRAGMA user_version = 99")
    newer.close()
    with pytest.raises(sqlite3.OperationalError, match="newer"):
        kept.add([row(0)], {})
    assert [path.name for path in tmp_path.iterdir()] == ["telemetry.db"]
