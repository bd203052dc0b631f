"""The benchmark of writes: it measures, goes on where it stopped, and its page says what it measured."""

import json
import os
from pathlib import Path

import pytest

from benchmarks import writes, writes_page

ENGINE = os.environ.get("HYDRAMEM_TEST_ENGINE", "ladybug")


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "data" / "made"
    folder.mkdir(parents=True)
    texts = [
        f"Crate {n} was moved to hall {n % 7} by Ada. It holds {n} lamps from Old Bern." for n in range(40)
    ]
    lines = [json.dumps({"id": str(n), "text": text}) for n, text in enumerate(texts)]
    (folder / "docs.jsonl").write_text("\n".join(lines))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HYDRAMEM_STORAGE_GRAPH", ENGINE)
    return folder.parent


def test_texts_are_all_different_and_the_same_every_time(data: Path) -> None:
    texts = writes.sentences(data, 100)
    assert len(set(texts)) == 100
    assert texts == writes.sentences(data, 100)
    with pytest.raises(ValueError, match="fewer than"):
        writes.sentences(data, 10_000)


@pytest.mark.slow
def test_what_single_writes_leave_is_compared_with_a_bulk(data: Path, tmp_path: Path) -> None:
    keep = tmp_path / "kept"
    keep.mkdir()
    found = writes.endurance(data, 12, embedder="hash", keep=keep)
    assert found.size_ratio > 0
    assert found.recall_ratio > 0
    again = writes.endurance(data, 12, embedder="hash", keep=keep)
    assert again.per_write == found.per_write  # nothing was written again
    page = writes_page.page((), writes.asked(data, count=2, embedder="hash"), [found])
    assert "| 12 | hash/384 |" in page
    assert "no fields" in page


def test_a_memory_is_timed_with_and_without_waiting(data: Path) -> None:
    found = writes.latency(data, 30, embedder="hash", count=3)
    assert found.count == 3
    assert found.soon[0] > 0
    assert "| 30 | hash/384 |" in writes_page.page([found], (), ())
