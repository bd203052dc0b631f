"""The pair classifier that the package carries: it is whole, judges plain pairs, and abstains."""

import shutil
from pathlib import Path

import pytest

from hydramem.core.errors import ModelUnavailableError
from hydramem.llm import pair_classifier
from hydramem.llm.pair_classifier import PairClassifier, card
from hydramem.llm.pair_model import PairModel

DATA = Path(pair_classifier.__file__).parents[1] / "data"


@pytest.fixture(scope="module")
def judge() -> PairClassifier:
    return PairClassifier()


@pytest.mark.parametrize(
    ("new", "old", "label"),
    [
        ("Ada lives in Munich.", "Ada lives in Berlin.", "update"),
        ("The user likes tea.", "The user likes tea.", "duplicate"),
        ("Ada lives in Berlin, in a flat by the river.", "Ada lives in Berlin.", "refine"),
        ("The parser is written in Rust.", "Bo is the treasurer of the chess club.", "unrelated"),
    ],
)
def test_plain_pairs(judge: PairClassifier, new: str, old: str, label: str):
    (found,) = judge(new, [old])
    assert found is not None
    shares = {name: getattr(found, name) for name in card()["labels"]}
    assert max(shares, key=lambda name: shares[name]) == label
    assert sum(shares.values()) == pytest.approx(1)


@pytest.mark.parametrize(
    "text",
    ["", "word " * 400, "Ada lebt seit Mai allein.", "我住在北京。", "\ud800 \0"],
)
def test_what_it_did_not_learn_is_not_judged(judge: PairClassifier, text: str):
    assert judge(text, [text]) == [None]


def test_a_damaged_model_is_named(tmp_path: Path):
    shutil.copytree(DATA / "pairs", tmp_path / "pairs")

    def damaged() -> PairClassifier:
        return PairClassifier(PairModel(name="pair classifier", file="pairs/pairs.onnx", data=tmp_path))

    weights = tmp_path / "pairs" / "pairs.onnx"
    content = bytearray(weights.read_bytes())
    content[1000] ^= 1
    weights.write_bytes(content)
    with pytest.raises(ModelUnavailableError, match="damaged"):
        damaged()("The cat is here.", ["The cat is there."])
    weights.unlink()
    with pytest.raises(ModelUnavailableError, match=r"pairs\.onnx cannot be read"):
        damaged()("The cat is here.", ["The cat is there."])


def test_pairs_of_any_length_keep_their_places(judge: PairClassifier):
    texts = [
        f"{'In the old mill by the river, ' * (number % 4)}Ada keeps parcel {number} in depot {number}."
        for number in range(40)
    ]
    pairs = [(text, texts[number // 2]) for number, text in enumerate(texts)]
    pairs[11] = ("Ada lebt seit Mai allein.", "Ada lebt seit Mai allein.")
    together = judge.judge_pairs(pairs)
    assert [place for place, found in enumerate(together) if found is None] == [11]
    for place in (0, 10, 12, 39):
        new, old = pairs[place]
        (alone,), found = judge(new, [old]), together[place]
        assert alone is not None and found is not None
        assert found.duplicate == pytest.approx(alone.duplicate, abs=0.1)
