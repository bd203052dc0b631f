"""Marks that tell alike texts apart, and texts of the same words."""

import pytest

from hydramem.text.decisive_marks import can_be_paraphrases, differ_in_marks, have_same_words, lost_marks


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The pump runs at 40 bar.", "The pump runs at 45 bar."),
        ("The vote was 3 to 5.", "The vote was 5 to 3."),
        ("The keys are with Iris.", "The keys are with Omar."),
        ("The gate is locked at night.", "The gate is not locked at night."),
        ("He eats fish.", "He doesn't eat fish."),
    ],
)
def test_texts_that_differ_in_a_mark(one: str, other: str) -> None:
    assert differ_in_marks(one, other)
    assert not have_same_words(one, other)


def test_texts_of_the_same_marks() -> None:
    assert not differ_in_marks("We meet at 9:30. Bring the plans.", "Bring the plans, for we meet at 9:30")


def test_only_articles_may_differ() -> None:
    assert have_same_words("The kiln is in the cellar.", "Kiln is in a cellar")
    assert have_same_words("The kiln is on!", "The kiln is on.")
    assert have_same_words("A dog guards the yard.", "The dog guards the yard.")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Iris manages Omar.", "Omar manages Iris."),
        ("The crate goes to Lund.", "The crate goes from Lund."),
        ("She works at the mill.", "She worked at the mill."),
        ("Call Iris, Omar and Ben.", "Call Iris Omar and Ben."),
        ("It is polish.", "It is Polish."),
    ],
)
def test_order_prepositions_endings_and_capitals_count(one: str, other: str) -> None:
    assert not have_same_words(one, other)


@pytest.mark.parametrize(
    ("text", "other", "lost"),
    [
        ("Crate 1001 is in hall 3.", "Crate 1002 is in hall 3.", {"1001"}),
        ("We meet on Friday.", "We meet on Thursday.", {"friday"}),
        ("The door is locked.", "The door is not locked.", {"not"}),
        ("We switched to MySQL.", "We used PostgreSQL, and MySQL since.", set()),
    ],
)
def test_what_a_text_has_and_another_lacks(text: str, other: str, lost: set[str]) -> None:
    assert lost_marks(text, other) == lost
    assert lost_marks(text, text) == frozenset()


def test_what_a_model_may_call_the_same() -> None:
    one, other = "The shop closes early on Sundays.", "The shop shuts before noon on Sundays."
    assert can_be_paraphrases(one, other) and can_be_paraphrases(other, one)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("We ship before the review.", "We ship after the review."),
        ("The fee is at least 5 euros.", "The fee is at most 5 euros."),
        ("The server is up.", "The server is up to date."),
        ("Iris borrowed a tent from Omar.", "Omar borrowed a tent from Iris."),
        ("The room has 3 doors, so they say.", "One hears that the room has 4 doors."),
    ],
)
def test_where_models_err_nobody_is_believed(one: str, other: str) -> None:
    assert not can_be_paraphrases(one, other)
    assert not can_be_paraphrases(other, one)
