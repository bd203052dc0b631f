"""The benchmark of sharing: its section, and a small run on real processes."""

import json
from pathlib import Path

import pytest

from benchmarks import sharing
from benchmarks.sharing import Left, Sharing, Start

FOUND = Sharing(
    held=2000,
    embedder="hash/384",
    count=200,
    recall=((10.0, 20.0), (11.5, 22.0)),
    remember=((30.0, 50.0), (32.0, 51.0)),
    bare=(0.1, 0.3),
    written={1: 10.0, 2: 15.0, 8: 42.0},
    take_over=(3.5, 0.9),
    starts=(Start(command="recall", count=50, wall_ms=300.0, cpu_ms=210.0, peak_mb=41.0),),
    left=Left(sessions=100, processes=0, owner_mb=(500.0, 510.0), descriptors=(24, 24)),
)


def test_the_section_has_every_figure() -> None:
    page = sharing.placed("# Results\n\n## Other\n\ntext\n", FOUND)
    for figure in (
        "| `recall` | 10.0 / 20.0 | 11.5 / 22.0 | +1.5 |",
        "| 8 | 42.0 | 4.20 |",
        "| 300 | 210 | 41 |",
    ):
        assert figure in page
    assert "0.90 s by a client that has modules" in page and "0 of their processes remain" in page
    assert sharing.placed(page, FOUND).count(sharing.TITLE) == 1


@pytest.mark.slow
def test_a_small_run_measures_real_processes(tmp_path: Path) -> None:
    data = tmp_path / "data" / "small"
    data.mkdir(parents=True)
    lines = [
        {"text": f"Report {n}\nThe crane of pier {n} was painted by crew {n * 3} in {1900 + n}."}
        for n in range(120)
    ]
    (data / "docs.jsonl").write_text("\n".join(map(json.dumps, lines)))
    found = sharing.measure(tmp_path / "data", held=20, count=8, each=2, sessions=2, embedder="hash")
    assert found.left.processes == 0 and found.left.descriptors[1] <= found.left.descriptors[0] + 8
    assert set(found.written) == {1, 2, 4, 8} and min(found.take_over) > 0
    assert {each.command for each in found.starts} == {"recall", "remember"}
    assert all(each.peak_mb < 200 for each in found.starts), "a command beside an owner loads no store"
