"""The benchmark of newness: dated pairs, conversations asked at their end, and the table of both."""

import json
from pathlib import Path

import pytest

from benchmarks import recency
from benchmarks.consolidation.sets import Pair

PAIRS = (
    Pair(
        old="Ada lives in Oslo.",
        new="Ada lives in Bergen.",
        label="update",
        kind="k",
        question="Where is Ada?",
    ),
    Pair(old="Bo has a dog.", new="Bo has a cat.", label="unrelated", kind="k", question="Has Bo a dog?"),
    Pair(old="x", new="x", label="duplicate", kind="k"),
)


def a_conversation(folder: Path) -> None:
    """Write a conversation of which one turn answers a question."""
    folder.mkdir(parents=True)
    turns = ["The kettle is blue.", "I sold the boat.", "It rains again.", "The boat was old."]
    docs = [
        {
            "case": "c",
            "id": str(number),
            "text": text,
            "meta": {"speaker": "Ada", "time": f"2024-03-0{number + 1}", "session": "S1", "seq": number},
        }
        for number, text in enumerate(turns)
    ]
    query = {"case": "c", "qid": "0", "query": "What colour is the kettle?", "gold": ["0"], "category": "c"}
    for name, rows in (("docs", docs), ("queries", [query])):
        (folder / f"{name}.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")


def test_old_texts_come_before_new_ones_within_a_year() -> None:
    found = recency.dated(PAIRS * 50)
    assert all(one.old_at <= one.new_at for one in found)
    assert any(one.far_apart for one in found) and not all(one.far_apart for one in found)
    assert max((one.new_at - one.old_at).days for one in found) <= 365


@pytest.mark.slow
def test_each_setting_is_measured_on_the_same_stores(tmp_path: Path) -> None:
    for name in recency.SETS:
        a_conversation(tmp_path / name)
    settings = ((0.0, 30.0), (50.0, 60.0))
    keep = tmp_path / "keep"
    report = recency.measure(tmp_path, embedder="hash", pairs=PAIRS, settings=settings, keep=keep)
    assert (report.updates, report.both_true, dict(report.questions)) == (
        1,
        1,
        dict.fromkeys(recency.SETS, 1),
    )
    without, strong = report.settings
    assert without.recall["beam100k"] == (1.0, 1.0)
    # What is newest comes first whatever is asked, once newness alone decides.
    assert strong.asked == 0.0
    again = recency.measure(tmp_path, embedder="hash", pairs=PAIRS, settings=settings[:1], keep=keep)
    assert again.settings[0].recall == without.recall
    page = recency.placed("# Results\n", report)
    assert recency.shown(report) in page and "| 50 | 60 |" in page


@pytest.mark.parametrize("weight", [weight for weight, _ in recency.SETTINGS])
def test_every_weight_is_a_share(weight: float) -> None:
    assert 0 <= weight <= 1
