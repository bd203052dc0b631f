"""The benchmark of the local page: its table, and a small run on a real server."""

import pytest

from benchmarks import view


@pytest.mark.slow
def test_a_small_run_times_what_the_page_asks() -> None:
    found = view.measure(memories=30, entities=40, count=3)
    timed = {row.what: row for row in found.rows}
    assert view.OVERVIEW.keys() < timed.keys()
    assert all(0 < row.p50_ms <= row.p95_ms for row in found.rows)
    assert 0 < found.stop_seconds < 30
    page = view.placed("# Results\n\n## Other\n\ntext\n", found)
    assert "30 memories, 40 entities" in page and "| search as you type | 12 |" in page and "## Other" in page
