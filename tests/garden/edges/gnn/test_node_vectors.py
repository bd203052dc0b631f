"""Meanings: short vectors that keep what tells entities apart, fetched in parts; the unknown is flagged."""

from collections.abc import Mapping, Sequence

import numpy as np

from hydramem.garden.edges.gnn.node_vectors import LEAST, WIDTH, lens_of, meanings
from hydramem.storage.vector_rows import Vector

IDS = [f"thing {one}" for one in range(2500)]
DRAW = np.random.default_rng(0)
BASIS = DRAW.normal(size=(6, 128))
HELD = {id: (DRAW.normal(size=6) @ BASIS).astype(np.float32) for place, id in enumerate(IDS) if place % 3}


class Store:
    """Vectors that remember how many were asked for at once."""

    most = 0

    def __call__(self, ids: Sequence[str]) -> Mapping[str, Vector]:
        self.most = max(self.most, len(ids))
        return {id: HELD[id] for id in ids if id in HELD}


def test_distances_are_kept_and_few_are_asked_for_at_once() -> None:
    store = Store()
    lens = lens_of(IDS, store)
    assert lens is not None and lens.axes.shape == (128, WIDTH)
    np.testing.assert_array_equal(lens_of(IDS, store).axes, lens.axes)
    seen = meanings(lens, IDS, store)
    assert store.most <= 2000
    np.testing.assert_array_equal(seen.known, [id in HELD for id in IDS])
    some = [place for place, id in enumerate(IDS) if id in HELD][:100]
    whole = np.asarray([HELD[IDS[place]] for place in some])
    far = np.linalg.norm(whole[:, None] - whole[None], axis=2)
    short = np.linalg.norm(seen.values[some][:, None] - seen.values[some][None], axis=2)
    assert np.corrcoef(far.ravel(), short.ravel())[0, 1] > 0.999


def test_a_few_vectors_or_vectors_that_are_all_one_say_nothing() -> None:
    assert lens_of(IDS[:LEAST], Store()) is None
    assert lens_of(IDS, lambda ids: {id: np.ones(8, dtype=np.float32) for id in ids}) is None


def test_short_embeddings_are_kept_as_long_as_they_are() -> None:
    held = {id: DRAW.normal(size=8).astype(np.float32) for id in IDS}
    lens = lens_of(IDS, lambda ids: {id: held[id] for id in ids})
    assert lens is not None
    seen = meanings(lens, IDS, lambda ids: {id: held[id] for id in ids})
    assert seen.values.shape == (2500, 8) and seen.known.all()
