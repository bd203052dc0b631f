"""The edge scorer with torch: it tells wrong relations, says how well, and serves a graph that grew."""

from pathlib import Path

import numpy as np
import pytest

from benchmarks.claims import graph
from hydramem.core.errors import StorageError
from hydramem.garden import gnn
from hydramem.garden.edges import known_of
from hydramem.garden.positions import positions
from hydramem.garden.scorer import auc
from tests.garden.graphs import planted, ruled

pytestmark = pytest.mark.filterwarnings(
    "ignore:.*torch.jit.script.*:DeprecationWarning"  # torch-geometric calls it as it is imported
)
needs_torch = pytest.mark.skipif(not gnn.available(), reason="the extra gnn is not installed")


def test_places_are_the_same_each_time_and_tell_near_from_far() -> None:
    ring = [(f"stop {one:03}", "next", f"stop {(one + 1) % 300:03}") for one in range(300)]
    facts = known_of(graph(ring)).facts
    places = positions(facts)
    np.testing.assert_array_equal(places, positions(facts))
    near = np.linalg.norm(places[facts.subject] - places[facts.object], axis=1)
    far = np.linalg.norm(places - np.roll(places, 150, axis=0), axis=1)
    assert near.max() < far.min()


def test_places_of_small_pieces_are_zero() -> None:
    assert not positions(known_of(ruled(people=4)).facts).any()


@needs_torch
def test_wrong_relations_look_worse_and_a_saved_model_says_the_same(tmp_path: Path) -> None:
    snapshot, wrong = planted(random=20)
    model = gnn.train(snapshot, seconds=20)
    assert model is not None and model.auc > 0.75 and 0 <= model.calibration < 0.25
    scores = gnn.score(model, snapshot)
    assert scores.scorer == "gnn"
    assert auc(wrong[scores.rows], scores.spurious) > 0.9
    gnn.save(model, tmp_path / "model.pt")
    again = gnn.load(tmp_path / "model.pt")
    assert again is not None
    np.testing.assert_allclose(gnn.score(again, snapshot).spurious, scores.spurious, rtol=1e-5)
    grown = ruled(people=155)
    assert np.isfinite(gnn.score(again, grown).spurious).all()


@needs_torch
def test_what_is_no_model_is_told(tmp_path: Path) -> None:
    assert gnn.load(tmp_path / "none.pt") is None
    (tmp_path / "broken.pt").write_bytes(b"\x00broken")
    with pytest.raises(StorageError, match=r"broken\.pt"):
        gnn.load(tmp_path / "broken.pt")


@needs_torch
def test_too_few_relations_train_nothing() -> None:
    assert gnn.train(ruled(people=10)) is None
