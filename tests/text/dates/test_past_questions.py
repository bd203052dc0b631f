"""Which questions ask for what was so before."""

import json

import pytest

from benchmarks.consolidation.sets import FOLDER
from hydramem.text.dates.past_questions import asks_for_past


@pytest.mark.parametrize(
    "query",
    [
        "Who used to live in the basement?",
        "What was Chidi’s number originally?",
        "Wo wohnte Ada früher?",
        "¿Dónde vivía Ada antes?",
    ],
)
def test_what_was_so_is_asked_for_in_words(query: str) -> None:
    assert asks_for_past(query)


@pytest.mark.parametrize(
    "query",
    [
        "Which database did we choose?",
        "What must be done before lunch?",
        "Which formers does the choir have?",
        "",
        "Wo wohnt Ada?",
    ],
)
def test_what_is_so_is_not_the_past(query: str) -> None:
    assert not asks_for_past(query)


def test_no_question_for_what_is_current_is_taken_for_one_of_the_past() -> None:
    rows = [json.loads(line) for line in (FOLDER / "test.jsonl").read_text(encoding="utf-8").splitlines()]
    current = [row["question"] for row in rows if row["label"] == "update"]
    assert len(current) > 250
    assert not [question for question in current if asks_for_past(question)]
