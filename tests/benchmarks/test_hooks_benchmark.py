"""The benchmark of hooks: its table, and a small run on real processes."""

import pytest

from benchmarks import hooks
from benchmarks.hooks import EventTime


def test_the_table_has_every_figure() -> None:
    row = EventTime(event="Stop", count=50, p50_ms=120.4, p95_ms=180.2, cpu_ms=70.0, ratio=2.41, characters=0)
    assert "| Stop | 50 | 120 | 180 | 70 | 2.4 | 0 |" in hooks.shown((row,))


@pytest.mark.slow
def test_a_small_run_times_every_event() -> None:
    found = {row.event: row for row in hooks.measure(held=20, count=2)}
    assert set(found) == {"version", "SessionStart", "UserPromptSubmit", "Stop", "PreCompact", "SessionEnd"}
    assert found["version"].ratio == 1.0 and found["SessionStart"].characters > 300
    assert all(row.count == 2 and 0 < row.p50_ms <= row.p95_ms for row in found.values())
