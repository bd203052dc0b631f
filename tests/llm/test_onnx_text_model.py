"""A model run from its two files gives the vectors that its pooling means."""

from functools import cache

import numpy as np
import pytest

from hydramem.llm.catalogue import MINILM, locate
from hydramem.llm.onnx_text_model import OnnxTextModel, Pooling, open_text_model, parts_within, quiet_session

TEXTS = ["The billing service keeps its rows in MySQL.", "x", "", "naïve café, Москва 東京"]


@cache
def opened(pooling: Pooling = "mean") -> OnnxTextModel:
    place = locate(MINILM)
    assert place is not None
    return open_text_model(place.weights, place.tokenizer, pooling=pooling, max_tokens=512, threads=1)


@pytest.mark.parametrize("pooling", ["cls", "mean"])
@pytest.mark.costly
def test_a_vector_is_pooled_from_those_of_the_tokens(pooling: Pooling) -> None:
    from tokenizers import Tokenizer

    place = locate(MINILM)
    assert place is not None
    session = quiet_session(place.weights, 1)
    tokenizer = Tokenizer.from_file(str(place.tokenizer))
    tokenizer.no_padding()
    for text, vector in zip(TEXTS, opened(pooling).embed(TEXTS, batch_size=1), strict=True):
        ids = np.array([tokenizer.encode(text).ids])
        named = {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": np.zeros_like(ids)}
        tokens = session.run(None, {one.name: named[one.name] for one in session.get_inputs()})[0][0]
        expected = tokens[0] if pooling == "cls" else tokens.mean(axis=0)
        assert vector == pytest.approx(expected, abs=1e-5)


@pytest.mark.costly
def test_long_texts_are_read_few_at_once_and_none_is_left_out() -> None:
    def parts(lengths: list[int], most: int = 100) -> list[list[int]]:
        return [lengths[part] for part in parts_within(lengths, most)]

    assert parts([60, 50, 50, 9, 9, 9, 9]) == [[60], [50, 50], [9, 9, 9, 9]]
    assert parts([300, 20, 50, 50]) == [[300], [20, 50], [50]]
    assert parts([1] * 250) == [[1] * 100, [1] * 100, [1] * 50]
    assert parts([]) == []
    long = ["word " * 60, *TEXTS] * 3
    assert len(list(opened().embed(long, batch_size=len(long)))) == len(long)
