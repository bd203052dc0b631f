"""The formulas behind figures of several benchmarks, by hand."""

import numpy as np
import pytest

from benchmarks import scale_page, verification
from benchmarks.relation_confidence import counted
from benchmarks.retrieval import Answered, mean_reciprocal_rank, recall_at


def test_recall_and_reciprocal_rank() -> None:
    def answered(gold: str, found: str) -> Answered:
        return Answered(category="fact", gold=frozenset(gold), found=tuple(found), seconds=0.0)

    all_of = [answered("ab", "acb"), answered("x", "yzw"), answered("q", "pq")]
    assert recall_at(1, all_of) == pytest.approx((0.5 + 0 + 0) / 3)
    assert recall_at(3, all_of) == pytest.approx((1 + 0 + 1) / 3)
    assert mean_reciprocal_rank(all_of) == pytest.approx((1 + 0 + 0.5) / 3)


def test_areas_are_those_of_scikit_learn() -> None:
    from sklearn.metrics import average_precision_score, roc_auc_score

    draw = np.random.default_rng(0)
    true, scores = draw.random(300) < 0.3, draw.integers(0, 20, 300) / 20  # many are equal
    assert verification.auc(true, scores) == pytest.approx(roc_auc_score(true, scores))
    assert verification.average_precision(true, scores) == pytest.approx(
        average_precision_score(true, scores)
    )


def test_labels_of_relations_are_counted_by_source_finder_and_type() -> None:
    label = {"source": "memory", "how": "rules", "type": "leads", "right": True}
    counts = counted([label, label, {**label, "right": False}, {**label, "how": "parse"}])
    assert counts == {("memory", "rules"): {"leads": [2, 1]}, ("memory", "parse"): {"leads": [1, 0]}}


def test_the_page_of_scale_compares_figures_with_targets() -> None:
    one = {"embed": [4.0, 6.0], "recall": [20.0, 50.0], "stages": {"text": [5.0, 9.0]}}
    run = {"chunks": 100_000, "edges": 7, "rounds": [one | {"recall": [90, 99]}, one], "after_writes": one}
    run |= {"write_ms": [1, 2], "fill_seconds": None, "snapshot_seconds": 1.0, "snapshot_mb": 120.0}
    run |= {"vectors_mb": 9.0, "rss_mb": 700.0, "embedder": "some", "date": "today", "machine": "mine"}
    smaller = run | {"chunks": 10_000, "rounds": [one | {"recall": [16.0, 17.0]}]}
    page = scale_page.page([run, smaller], [])
    assert "| recall at 100,000 chunks, as a multiple of the embedding, p50 | ≤ 8 | 5.0 |" in page
    assert "| growth of the latency with ten times the chunks | ≤ 1.5 | 1.25 |" in page
