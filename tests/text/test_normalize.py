"""Duplicates: what is one, and the many near misses that are none."""

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from hydramem.text.normalize import wording
from tests.examples import FEW


@pytest.mark.parametrize(
    ("text", "other"),
    [
        ("The deploy key is in the vault.", "the deploy key is  in the\nvault"),
        ("Ada’s “spare” key", 'Ada\'s "spare" key.'),
        ("Café", "Cafe\u0301"),
        ("  x \t", "x"),
    ],
)
def test_the_same_in_another_dress(text: str, other: str) -> None:
    assert wording(text) == wording(other)


@pytest.mark.parametrize(
    ("text", "other"),
    [
        ("The talk is in hall 3.", "The talk is in hall 4."),  # number
        ("It weighs 3.5 kg.", "It weighs 35 kg."),
        ("Under <5 minutes", "Under >5 minutes"),
        ("It is written in C++", "It is written in C"),
        ("May came.", "may came."),
        ("Due on 2024-05-01", "Due on 2024-05-10"),  # date
        ("The door is locked.", "The door is not locked."),  # negation
        ("Ada manages Bob.", "Bob manages Ada."),  # role
        ("blocked: Ada\nallowed: Bob", "blocked: Bob\nallowed: Ada"),
        ("東京に住む", "京都に住む"),
    ],
)
def test_near_misses_are_no_duplicates(text: str, other: str) -> None:
    assert wording(text) != wording(other)
    assert wording(f"We know this: {text}") != wording(f"We know this: {other}")


LETTERS = st.characters(categories=["Lu", "Ll", "Lo", "Nd", "Sc", "Sm"])


@FEW
@given(
    st.lists(st.text(LETTERS, min_size=1), min_size=1), st.integers(min_value=0), st.text(LETTERS, min_size=1)
)
def test_one_other_word_makes_another_text(words: list[str], place: int, word: str) -> None:
    place %= len(words)
    changed = [*words[:place], word, *words[place + 1 :]]
    assume(wording(words[place]) != wording(word))
    assert wording(" ".join(words)) != wording(" ".join(changed))


@FEW
@given(st.text())
def test_wording_is_stable(text: str) -> None:
    assert wording(f"\n {text}\t") == wording(text)
