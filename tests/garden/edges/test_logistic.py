"""Edge scores without torch: relations of a graph with rules are told from wrong ones that were put in."""

import numpy as np
import pytest

from hydramem.garden.edges.labelled_relations import relations_of
from hydramem.garden.edges.logistic import LEAST_RELATIONS, auc, score
from tests.garden.graphs import odd_ones, planted, ruled


def test_wrong_relations_look_worse_than_right_ones() -> None:
    snapshot, wrong = planted(random=20)
    scores, again = score(snapshot), score(snapshot)
    assert scores is not None and scores.scorer == "logistic"
    assert again is not None
    np.testing.assert_array_equal(scores.spurious, again.spurious)
    assert auc(wrong[scores.rows], scores.spurious) > 0.95
    assert scores.auc > 0.8 and 0 <= scores.calibration < 0.2
    worst = scores.rows[np.argsort(-scores.spurious)[:10]]
    assert wrong[worst].mean() >= 0.8


def test_too_few_relations_are_not_scored() -> None:
    assert score(ruled(people=10)) is None
    assert len(relations_of(ruled(people=10))) < LEAST_RELATIONS


@pytest.mark.costly  # learns three times
def test_what_people_said_moves_what_is_like_it() -> None:
    def told(true: bool | None) -> float:
        snapshot, like, labels = odd_ones(true=true)
        scores = score(snapshot, labels=labels)
        assert scores is not None and scores.labels == (0 if labels is None else 20)
        return float(scores.spurious[np.isin(scores.rows, like)].mean())

    without, rejected, confirmed = told(None), told(False), told(True)
    assert confirmed < without < 0.5 < rejected
