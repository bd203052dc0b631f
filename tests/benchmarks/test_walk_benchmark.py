import json

import numpy as np
import pytest

from benchmarks import walks
from benchmarks.__main__ import main


def test_the_graph_is_as_large_as_asked_and_skewed() -> None:
    made = walks.made_up(1000, 5000)
    degrees = np.sort(made.graph.degrees(np.arange(1000)))[::-1]
    assert (made.graph.size, len(made.sources)) == (1000, 5000)
    assert degrees[:10].sum() > 10 * degrees.mean() * 3


def test_a_small_graph_is_ranked_exactly() -> None:
    rows = {row.walk: row for row in walks.measure(repeats=3, sizes=((2000, 10_000),))}
    ranked = [row for row in rows.values() if row.overlap is not None]
    assert len(ranked) == 2
    assert all(row.overlap >= 0.95 for row in ranked)
    assert "breadth-first, depth 3" in walks.shown(tuple(rows.values()))


def test_a_large_graph_is_ranked_nearly_as_exactly() -> None:
    ranked = [row for row in walks.measure(repeats=10, sizes=((30_000, 150_000),)) if row.overlap is not None]
    assert all(row.overlap >= 0.95 for row in ranked)


def test_three_steps_on_ten_thousand_nodes_take_milliseconds() -> None:
    row = next(row for row in walks.measure(repeats=5, sizes=(walks.SMALL,)) if "depth 3" in row.walk)
    assert row.nodes == 10_000
    assert row.p50 < 30


@pytest.mark.slow
def test_it_runs_from_the_command_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["walks", "--repeats", "2", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert {row["nodes"] for row in rows} == {10_000, 100_000}
