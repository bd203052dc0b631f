"""A model in memory: when it is loaded, given back, and loaded for one call alone."""

import threading
from collections.abc import Callable

import numpy as np
import pytest

from hydramem.core.config import EmbeddingConfig
from hydramem.llm.catalogue import MINILM
from hydramem.llm.hash_embedder import HashEmbedder
from hydramem.llm.held_model import FEW_TEXTS, HeldModel, give_back, not_loaded, sparing_models
from hydramem.llm.local_embedder import open_known
from hydramem.llm.pair_classifier import PairClassifier
from hydramem.llm.pair_model import PairModel


class _Loader:
    """Counts how often a model was loaded."""

    def __init__(self) -> None:
        self.loads = 0

    def __call__(self) -> int:
        self.loads += 1
        return self.loads


def _in_thread(work: Callable[[], object]) -> None:
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()


def test_a_model_is_loaded_once_and_again_after_it_was_given_back() -> None:
    held = HeldModel(_Loader())
    assert not held.loaded
    assert (held.get(), held.get()) == (1, 1)
    held.give_back()
    assert not held.loaded
    assert held.get() == 2
    _in_thread(held.get)
    held.give_back()
    assert held.loaded, "another thread uses it too"


def test_little_use_is_loaded_for_the_call_alone_where_the_thread_spares_memory() -> None:
    full, light = _Loader(), _Loader()
    held = HeldModel(full, light)
    with sparing_models():
        assert held.get(little=True) == 1 and not held.loaded
        assert (full.loads, light.loads) == (0, 1)
        held.get()
        assert held.loaded and (full.loads, light.loads) == (1, 1)
        held.get(little=True)
        assert light.loads == 1
        again = HeldModel(full, light)
        _in_thread(lambda: again.get(little=True))
        assert (full.loads, light.loads) == (2, 1), "other threads spare nothing"
        often = HeldModel(full, light)
        for _ in range(20):
            often.get(little=True)
        assert often.loaded and light.loads < 21, "what is needed again and again is kept"


@pytest.mark.costly  # it loads the model twice
def test_few_texts_have_the_same_vectors_and_leave_no_model() -> None:
    embedder = open_known(MINILM, settings=EmbeddingConfig())
    few = [f"Ada Lovelace moved to Berlin in {year}." for year in range(1990, 1993)]
    with sparing_models():
        spared = embedder.embed_documents(few)
        assert not embedder.held.loaded
        assert len(embedder.embed_documents(few * (FEW_TEXTS // 3 + 1))) > FEW_TEXTS
        assert embedder.held.loaded
    assert np.abs(spared - embedder.embed_documents(few)).max() < 1e-5


@pytest.mark.costly  # it loads the model twice
def test_what_ran_a_model_first_gives_it_back() -> None:
    classifier = PairClassifier(PairModel(name="pair classifier", file="pairs/pairs.onnx"))
    pair = ("Ada moved to Munich.", ["Ada lives in Berlin."])
    borrowed = not_loaded((classifier, HashEmbedder()))
    assert borrowed == (classifier.held,)
    before = classifier(*pair)
    assert not not_loaded((classifier,))
    give_back(borrowed)
    assert not classifier.held.loaded
    assert classifier(*pair) == before
