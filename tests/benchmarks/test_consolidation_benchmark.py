"""The labelled pairs hold the rules of consolidation to what they must reach, on both parts."""

from collections import Counter

import pytest

from benchmarks.consolidation import ACTIONS, PAIRS, pairs, placed, scores, told

LEAST_PAIRS = 300


def test_the_pairs_are_many_and_of_every_kind() -> None:
    rows = pairs(PAIRS)
    assert len(rows) == len({row.id for row in rows}) >= LEAST_PAIRS
    assert {row.action for row in rows} == set(ACTIONS)
    shares = Counter(row.language for row in rows)
    assert min(shares["de"], shares["es"]) > len(rows) / 10
    differs = {row.differs for row in rows if row.action == "unrelated"}
    assert differs >= {"number", "name", "date", "negation", "role", "unit", "version", "subject", "template"}


@pytest.mark.parametrize("part", ["tune", "held"])
def test_rules_reach_what_they_must(part: str) -> None:
    rows = [row for row in pairs() if row.part == part]
    answers = [told(row) for row in rows]
    found = {score.action: score for score in scores(rows, answers)}
    assert found["update"].precision >= 0.95
    assert found["duplicate"].f1 >= 0.9
    wrong = [
        row.id
        for row, answer in zip(rows, answers, strict=True)
        if answer.action == "duplicate" and row.action != "duplicate"
    ]
    assert wrong == []


def test_figures_go_into_their_section() -> None:
    report = {
        "scores": [
            {"part": "held", "action": "update", "pairs": 3, "precision": 1.0, "recall": 0.5, "f1": 0.667}
        ],
        "differing": {"held": 7},
        "false_duplicates": {"held": 0},
        "p50_ms": 0.1,
        "p99_ms": 0.2,
        "long_ms": 3.0,
        "near": {},
        "date": "2026-01-01",
        "machine": "2 cores",
    }
    page = placed("# Results\n\n## Other\n\nkept\n", report)
    assert "| held | update | 3 | 1.000 | 0.500 | 0.667 |" in page
    assert "0 of 7 (held)" in page
    assert page.index("kept") < page.index("## Consolidation")
    assert placed(page, report) == page
