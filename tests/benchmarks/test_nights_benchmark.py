"""The benchmark of nights: the memory that it makes up, what it notes of a night, and its sections."""

import json
import threading
import time
from pathlib import Path

import pytest

import hydramem
from benchmarks import nights, nights_page, nights_recall
from benchmarks.overgrown import EACH, PROJECT, grow
from hydramem.llm.hash_embedder import HashEmbedder
from hydramem.storage.writer_lock import WriterLock


@pytest.mark.slow
def test_a_made_up_memory_has_what_a_night_looks_for(tmp_path: Path) -> None:
    grow(tmp_path / "store", 120)
    with hydramem.connect(tmp_path / "store", embedder=HashEmbedder(), project=PROJECT) as memory:
        counts = memory._opened.graph.counts(PROJECT)
        assert (counts.entities, counts.relations) == (120, 120 * EACH)
        assert counts.chunks >= 60 and counts.mentions and counts.links and counts.sessions
        [report] = memory.garden(plan=True)
        assert {one.phase for one in report.changes} >= {"verify", "reuse"}
        assert memory.doctor().healthy


@pytest.mark.slow
def test_a_night_is_measured_with_others_beside_it(tmp_path: Path) -> None:
    night = nights.measure(150, keep=tmp_path)
    assert (tmp_path / "grown-ladybug-150").is_dir()
    assert night.state == "completed" and night.peak_mb > 50
    assert night.waits.keys() == {
        f"{call} {how}" for call in ("recall", "remember") for how in ("alone", "beside")
    }
    assert night.longest_hold_ms > 0 and night.holds
    page = nights_page.placed("# Results\n\n## Other\n\nstays\n", [night])
    assert "stays" in page and page.count(nights_page.TITLE) == 1
    assert "150 entities" in nights_page.shown(night)


def test_how_long_the_night_alone_holds_the_lock_is_noted() -> None:
    doing = nights._Doing(what="apply")
    lock, holds = WriterLock(lambda: None), nights._Holds(doing)
    holds.watch(lock)
    with lock, lock.of(["p"]):
        time.sleep(0.02)

    def other() -> None:
        with lock:
            pass

    thread = threading.Thread(target=other)
    thread.start()
    thread.join()
    [(held, what)] = holds.found
    assert held >= 20 and what == "apply"


def test_nights_in_a_row_are_asked_the_same_questions(tmp_path: Path) -> None:
    folder = tmp_path / "made"
    folder.mkdir()
    docs = [
        {"id": f"d{n}", "case": "c", "text": f"Town {n}\nTown {n} has a mayor called Ada{n}.", "meta": {}}
        for n in range(6)
    ]
    queries = [
        {"case": "c", "query": f"Who is mayor of Town {n}?", "gold": [f"d{n}"], "category": "x"}
        for n in range(6)
    ]
    for name, rows in (("docs", docs), ("queries", queries)):
        (folder / f"{name}.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    run = nights_recall.measure(folder, nights=2)
    assert len(run.recall) == 3 and len(run.changes) == 2 and run.questions == 6
    assert run.recall[0]["@10"] == 1.0
    page = nights_recall.placed("# Results\n", [run])
    assert page.count(nights_recall.TITLE) == 1 and "after 2 nights" in nights_recall.shown(run)
