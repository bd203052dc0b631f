"""A clock that was once in the future: writes stay in order, and reads go by the clock."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

import hydramem
from hydramem.core import time
from tests.engines import DISK_ENGINE
from tests.memory_api.conftest import settings

SETTINGS = settings(DISK_ENGINE)
Ahead = Callable[[timedelta], object]


@pytest.fixture
def clock_ahead(monkeypatch: pytest.MonkeyPatch) -> Ahead:
    """Set the machine's clock ahead for a while; the process forgets it afterwards, as another one would."""
    last = time._last

    @contextmanager
    def ahead(by: timedelta) -> Iterator[None]:
        class Clock(datetime):
            @classmethod
            def now(cls, tz: object = None) -> datetime:
                return datetime.now(UTC) + by

        with monkeypatch.context() as patched:
            patched.setattr(time, "datetime", Clock)
            yield
        time._last = last

    return ahead


@pytest.mark.costly  # the next session reads from the files how far ahead the last one was
def test_a_session_ten_years_ahead_does_not_hide_what_comes_after(
    tmp_path: Path, clock_ahead: Ahead, caplog: pytest.LogCaptureFixture
) -> None:
    with clock_ahead(timedelta(days=3650)), hydramem.connect(tmp_path / "store", config=SETTINGS) as memory:
        memory.remember("Grace Hopper likes ships.")
        old = memory.remember("Ada Lovelace lives in London.").id
        assert memory.doctor().warnings == ()
        ahead = memory.get(old).times.recorded_at
    tomorrow = (datetime.now(UTC) + timedelta(days=1)).date().isoformat()
    with hydramem.connect(tmp_path / "store", config=SETTINGS) as memory:
        (warning,) = memory.doctor().warnings
        assert "the clock says" in warning and warning in caplog.text

        kept = memory.remember("Ada Lovelace likes tea.", expires_at=tomorrow)
        assert kept.id in {hit.id for hit in memory.recall("What does Ada Lovelace like?").hits}
        assert memory.recall("What does Grace Hopper like?").hits
        assert memory.get(kept.id).times.recorded_at > ahead > datetime.now(UTC) + timedelta(days=3649)

        new = memory.remember("Ada Lovelace lives in Paris.", replaces=[old]).id
        found = {hit.id for hit in memory.recall("Where does Ada Lovelace live?").hits}
        assert new in found and old not in found, "what is replaced is over at once"
        memory.relate("Ada Lovelace", "works_at", "Analytical Engines")
        memory.relate("Ada Lovelace", "works_at", "Difference Engines")
        shown = [row for row in memory.relations("Ada Lovelace") if row.type == "works_at"]
        assert "Difference Engines" in str(shown)
        assert all(row.valid_from is None or row.valid_from <= datetime.now(UTC) for row in shown)
        assert memory.doctor().healthy
