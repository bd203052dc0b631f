"""The reranker that the package carries: it is whole, reads questions with passages, only English ones."""

import shutil
from pathlib import Path

import numpy as np
import pytest

from hydramem.core.errors import ModelUnavailableError
from hydramem.llm import passage_reranker
from hydramem.llm.pair_model import PairModel
from hydramem.llm.passage_reranker import MOST_TOKENS, PassageReranker, ReadPassage, shown_passage

DATA = Path(passage_reranker.__file__).parents[1] / "data"
NEAR = (
    "The deposit for the flat in Bern was two months' rent.",
    "Marta sent the key of the flat back by post.",
    "The landlord promised to mend the boiler before the winter.",
    "Bo thinks that Bern is too quiet at night.",
)


@pytest.fixture(scope="module")
def reranker() -> PassageReranker:
    return PassageReranker()


def best(reranker: PassageReranker, query: str, *texts: str) -> str:
    scores = reranker(query, [ReadPassage(text=text) for text in texts])
    assert scores is not None and scores.shape == (len(texts),)
    return texts[int(np.argmax(scores))]


@pytest.mark.parametrize(
    ("query", "place"),
    [
        ("how much did we have to put down for the apartment?", 0),
        ("What about the heating was to be repaired?", 2),
    ],
)
def test_it_finds_what_answers_in_other_words(reranker: PassageReranker, query: str, place: int) -> None:
    assert best(reranker, query, *NEAR) == NEAR[place]


def test_the_turn_before_tells_what_is_answered(reranker: PassageReranker) -> None:
    asked = [
        ReadPassage(text="Ada: In May, I think.", before="Bo: When do you start at the bakery?"),
        ReadPassage(text="Ada: In June, I think.", before="Bo: When does your sister marry?"),
    ]
    first, second = (
        reranker(query, asked) for query in ("When does Ada begin at the bakery?", "When is the wedding?")
    )
    assert first is not None and second is not None
    assert first[0] - first[1] > second[0] - second[1]


def test_the_other_passages_do_not_change_a_score(reranker: PassageReranker) -> None:
    together = reranker("Who has the key?", [ReadPassage(text=text) for text in NEAR])
    alone = [reranker("Who has the key?", [ReadPassage(text=text)]) for text in NEAR]
    assert together is not None
    for one, other in zip(together, alone, strict=True):
        assert other is not None and one == pytest.approx(other[0], abs=1e-4)


@pytest.mark.parametrize(
    "text", ["", "我住在北京。", "Der Schlüssel liegt seit Mai im Keller.", "\ud800 \0", "{}[]()" * 500]
)
def test_passages_of_another_language_are_not_read(reranker: PassageReranker, text: str) -> None:
    assert reranker("Where is the key?", [ReadPassage(text=text)] * 3) is None


def test_long_and_odd_texts_are_cut(reranker: PassageReranker) -> None:
    long = ReadPassage(text="The key is in the cellar. " * 5000, before="Where is it, and why? " * 5000)
    scores = reranker("where is the key " * 2000, [long, ReadPassage(text="The key is \ud800 here. \0")])
    assert scores is not None and np.isfinite(scores).all()
    assert len(shown_passage(long).split()) <= 125


def test_a_damaged_model_is_named(tmp_path: Path) -> None:
    shutil.copytree(DATA / "reranker", tmp_path / "reranker")
    weights = tmp_path / "reranker" / "reranker.onnx"
    content = bytearray(weights.read_bytes())
    content[1000] ^= 1
    weights.write_bytes(content)
    model = PairModel(name="reranker", file="reranker/reranker.onnx", data=tmp_path, most_tokens=MOST_TOKENS)
    with pytest.raises(ModelUnavailableError, match=r"reranker: .* is damaged"):
        PassageReranker(model)("Who has the key?", [ReadPassage(text=NEAR[1])])
