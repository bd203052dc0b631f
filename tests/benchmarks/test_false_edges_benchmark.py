"""The benchmark of false relations: what it puts in, what it says of scorers, and its section of the page."""

import math
from pathlib import Path

import pytest

from benchmarks import edge_sizes, false_edges, false_edges_page
from tests.garden.graphs import triples


def data(folder: Path) -> Path:
    (folder / "kg" / "made").mkdir(parents=True)
    text = "\n".join("\t".join(triple) for triple in triples(120))
    (folder / "kg" / "made" / "train.txt").write_text(text)
    return folder


def test_false_relations_are_none_of_the_true_ones_and_consistent_ones_fit_their_type() -> None:
    true = triples(100)
    wrong = false_edges.falsified(true, 0.1, "consistent")
    assert len(wrong) == len(set(wrong)) >= 0.1 * len(true)
    assert set(wrong).isdisjoint(true)
    for subject, type, object in wrong:
        assert any(one[:2] == (subject, type) for one in true) or any(
            one[1:] == (type, object) for one in true
        )
    assert wrong == false_edges.falsified(true, 0.1, "consistent")


@pytest.mark.slow
def test_every_scorer_is_measured_and_the_fitted_one_is_the_best(tmp_path: Path) -> None:
    scorers = {name: false_edges.SCORERS[name] for name in ("heuristic", "srmkg", "logistic")}
    told = false_edges.measure(data(tmp_path), names=("made",), shares=(0.1,), scorers=scorers)
    assert [(one.kind, one.scorer) for one in told[:3]] == [
        ("random", "heuristic"),
        ("random", "srmkg"),
        ("random", "logistic"),
    ]
    assert all(0 <= one.auc <= 1 and 0 <= one.precision <= 1 for one in told)
    assert told[2].auc > max(0.9, told[0].auc)
    assert math.isnan(told[0].lost) and told[2].lost <= 0.02
    page = false_edges_page.placed("# Results\n\n## Other\n\nstays\n", told, [edge_sizes.size(300)])
    assert "stays" in page and page.count(false_edges_page.TITLE) == 1
    assert false_edges_page.placed(page, told, []).count(false_edges_page.TITLE) == 1
