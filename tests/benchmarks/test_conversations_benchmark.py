import numpy as np
import pytest

from benchmarks.conversations.fit import Question, fit
from benchmarks.conversations.run import Row, placed, shown
from hydramem.search.conversation.turn_order import NUMBERS


def test_the_table_has_the_gain_and_its_spread() -> None:
    figures = {5: 74.0, 10: 84.0}
    row = Row(
        set="talks",
        cases=5,
        questions=9,
        before=figures,
        after=figures,
        gain={5: 3.4, 10: -0.7},
        spread=figures,
    )
    assert "| talks | 5 | 9 | 74.0 | 74.0 | +3.4 ± 74.0 | 84.0 | 84.0 | -0.7 ± 84.0 |" in shown([row])
    page = placed("# Results\n", [row], embedder="minilm")
    assert "## Conversations" in page and placed(page, [row], embedder="minilm") == page


@pytest.mark.slow
def test_the_fit_finds_the_number_that_tells() -> None:
    pytest.importorskip("torch", reason="the fit needs torch")
    draw = np.random.default_rng(3)
    questions = []
    for _ in range(60):
        numbers = draw.normal(size=(10, len(NUMBERS)))
        right = np.zeros(10)
        right[numbers[:, 2].argmax()] = 1
        questions.append(Question(case="a", numbers=numbers, right=right))
    weights = fit(questions)
    numbers = draw.normal(size=(200, len(NUMBERS)))
    assert np.corrcoef(weights.scores(numbers), numbers[:, 2])[0, 1] > 0.7
