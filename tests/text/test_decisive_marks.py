"""Marks that tell alike texts apart, and texts of the same words."""

import pytest

from hydramem.text.decisive_marks import can_be_paraphrases, differ_in_marks, have_same_words, lost_marks


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


@pytest.mark.parametrize(
    ("text", "other", "lost", "same_words"),
    [
        ("Crate 1001 is in hall 3.", "Crate 1002 is in hall 3.", {"1001"}, False),
        ("We meet on Friday.", "We meet on Thursday.", {"friday"}, False),
        ("The door is locked.", "The door is not locked.", {"not"}, False),
        ("He eats fish.", "He doesn't eat fish.", {"not"}, False),
        ("We switched to MySQL.", "We used PostgreSQL, and MySQL since.", set(), False),
        ("The kiln is in the cellar!", "Kiln is in a cellar.", set(), True),
        ("Iris manages Omar.", "Omar manages Iris.", set(), False),
        ("The crate goes to Lund.", "The crate goes from Lund.", set(), False),
        ("It is polish.", "It is Polish.", set(), False),
    ],
)
def test_what_a_text_has_and_another_lacks(text: str, other: str, lost: set[str], same_words: bool) -> None:
    assert lost <= lost_marks(text, other)
    assert lost_marks(text, text) == frozenset()
    assert have_same_words(text, other) is same_words
    assert differ_in_marks(text, other) or not lost
