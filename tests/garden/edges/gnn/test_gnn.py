"""The edge scorer with torch: it tells wrong relations, says how well, and serves a graph that grew."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pytest

from hydramem.garden.edges.gnn.trained_model import Model, available
from hydramem.garden.edges.logistic import auc
from hydramem.graph.snapshot.snapshot import Snapshot
from hydramem.storage.vector_rows import Vector
from tests.garden.graphs import planted, ruled

pytestmark = pytest.mark.filterwarnings(
    "ignore:.*torch.jit.script.*:DeprecationWarning"  # torch-geometric calls it as it is imported
)
needs_torch = pytest.mark.skipif(not available(), reason="the extra gnn is not installed")


def trained(snapshot: Snapshot, **options: object) -> Model:
    from hydramem.garden.edges.gnn.training import train

    model = train(snapshot, **{"seconds": 60} | options)  # type: ignore[arg-type]
    assert model is not None
    return model


@needs_torch
def test_wrong_relations_look_worse_and_a_saved_model_says_the_same(tmp_path: Path) -> None:
    from hydramem.garden.edges.gnn.score import load, save, score

    snapshot, wrong = planted(random=20)
    model = trained(snapshot, vectors=by_kind)
    assert model.auc > 0.75 and 0 <= model.calibration < 0.25 and model.lens is not None
    scores = score(model, snapshot, vectors=by_kind)
    assert scores.scorer == "gnn"
    assert auc(wrong[scores.rows], scores.spurious) > 0.9
    save(model, tmp_path / "model.pt")
    again = load(tmp_path / "model.pt")
    assert again is not None
    np.testing.assert_array_equal(again.fingerprint.relations, model.fingerprint.relations)
    told = score(again, snapshot, vectors=by_kind)
    np.testing.assert_allclose(told.spurious, scores.spurious, rtol=1e-5)
    grown = ruled(people=155)
    assert np.isfinite(score(again, grown, vectors=by_kind).spurious).all()


@needs_torch
def test_a_message_never_passes_over_the_edge_that_it_judges() -> None:
    import torch

    from hydramem.garden.edges.gnn.inputs import lay_out
    from hydramem.garden.edges.gnn.training import messages_of
    from hydramem.garden.edges.labelled_relations import no_labels

    snapshot, _ = planted(random=5)
    lesson = lay_out(snapshot, no_labels(snapshot), None, seed=0)
    every = messages_of(lesson, 0).matrix.to_dense()
    assert every.any()
    for fold, (one, other) in zip(lesson.folds, lesson.ends.T, strict=True):
        alone = np.all(np.sort(lesson.ends, axis=0) == np.sort([one, other])[:, None], axis=0).sum() == 1
        assert not alone or (every[one, other] > 0) == (every[other, one] > 0) == (fold != 0)
    asked = int(np.flatnonzero(lesson.folds[lesson.learned] == 1)[0])
    one, other = lesson.ends[:, lesson.learned[asked]]
    kept = messages_of(lesson, 0, without=torch.tensor([asked])).matrix.to_dense()
    assert every[one, other] > 0 and kept[one, other] == kept[other, one] == 0


def by_kind(ids: Sequence[str]) -> Mapping[str, Vector]:
    """Return a vector that tells a name's first word, and something of the name; companies have none."""
    found = {}
    for id in ids:
        kind, number = id.rsplit(" ", 1)
        if kind != "company":
            draw = np.random.default_rng(len(kind))
            own = np.random.default_rng(int(number)).normal(size=40) * 0.1
            found[id] = (draw.normal(size=40) + own).astype(np.float32)
    return found
