import random

import numpy as np
import pytest

from benchmarks.reranking import Row, placed, shown
from benchmarks.train_reranker.questions import Candidate, Question, counts, written
from hydramem.llm.passage_reranker import ReadPassage


def test_the_table_has_what_was_gained_and_what_it_costs() -> None:
    before, after = (dict.fromkeys((1, 2, 5, 10), value) for value in (70.0, 72.5))
    row = Row(
        set="talks", questions=9, before=before, after=after, gains=(1.0, 3.0), ms_before=30, ms_after=80
    )
    assert "| talks | 9 | 70.0 -> 72.5 |" in shown([row])
    assert "| +2.0 ± 1.0 | 30 -> 80 |" in shown([row])
    page = placed("# Results\n", [row], embedder="minilm")
    assert "## Reranker" in page and placed(page, [row], embedder="minilm") == page


def test_written_questions_know_what_was_said_before() -> None:
    found = list(written("test"))
    assert sum(counts(found).values()) == len(found) >= 400
    assert all(any(one.right for one in question.candidates) for question in found)
    said = [
        one.passage.before for question in found if question.set == "people" for one in question.candidates
    ]
    assert np.mean([bool(before) for before in said]) > 0.8
    told = [
        one.passage.before for question in found if question.set == "notes" for one in question.candidates
    ]
    assert not any(told)


def asked(noise: int) -> Question:
    """Return a question whose right answer has its number."""
    texts = [f"Ada: it is {number} here." for number in range(noise, noise + 6)]
    return Question(
        set="people",
        query=f"What is {noise + 2}?",
        candidates=tuple(
            Candidate(passage=ReadPassage(text=text), right=place == 2) for place, text in enumerate(texts)
        ),
    )


@pytest.mark.slow
def test_a_step_shows_the_right_passage_first_and_skips_what_has_too_few() -> None:
    pytest.importorskip("torch", reason="training needs torch")
    from benchmarks.train_reranker.train import draw_passages

    drawn = draw_passages(asked(10), random.Random(1))
    assert drawn is not None and len(drawn.passages) >= 4
    assert drawn.passages[0].text == "Ada: it is 12 here."
    assert "Ada: it is 12 here." not in [one.text for one in drawn.passages[1:]]
    few = Question(set="people", query="?", candidates=asked(10).candidates[:3])
    assert draw_passages(few, random.Random(1)) is None


@pytest.mark.slow
def test_training_puts_right_passages_above_wrong_ones() -> None:
    torch = pytest.importorskip("torch", reason="training needs torch")
    from pathlib import Path

    from benchmarks.train_pairs.encoder import PairEncoder
    from benchmarks.train_pairs.train import arrays
    from benchmarks.train_reranker.train import tokenizer, train
    from hydramem.llm import pair_model

    data = Path(pair_model.__file__).parents[1] / "data" / "minilm" / "tokenizer.json"
    words = tokenizer(str(data))
    torch.manual_seed(1)
    model = PairEncoder(1)
    model.layers = model.layers[:1]
    question = Question(
        set="people",
        query="key?",
        candidates=tuple(
            Candidate(passage=ReadPassage(text=text), right=text == "the key")
            for text in ("the key", "a boat", "some rain", "no crane", "one bell")
        ),
    )
    train(model, [question] * 12, words=words, epochs=15, seconds=60)
    pairs = [(question.query, one.passage.text) for one in question.candidates]
    with torch.no_grad():
        scores = model(*arrays(words.encode_batch(pairs)))[:, 0].tolist()
    assert int(np.argmax(scores)) == 0
