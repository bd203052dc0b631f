"""What must agree in two texts that say the same in other words."""

import pytest

from hydramem.text.restated_text import can_restate


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (
            "The night shift at the paint hall begins at 22:00, and the keys are with Orsolya.",
            "Painters on nights start at ten and get the hall's keys from Orsolya.",
        ),
        ("Iris likes tea.", "Iris enjoys drinking tea."),
    ],
)
def test_texts_that_can_say_the_same(one: str, other: str) -> None:
    assert can_restate(one, other)
    assert can_restate(other, one)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        # Each names what the other does not.
        ("The keys of the paint hall are with Orsolya.", "Keys of that hall for paint: with Benedek."),
        # Each counts otherwise.
        ("The pump ran for three hours on 11 May.", "On 3 May the pump ran for eleven hours."),
        # One frame, filled otherwise.
        (
            "The ferry takes foot passengers from May to August, only no cars.",
            "The ferry takes loaded trucks from May to August, only no bicycles.",
        ),
        # Nearly the same words, of which a small one turns what is said.
        ("Ada eats meat on Fridays at home.", "Ada does not eat meat on Fridays at home."),
        # One alone denies, and nothing else shows that they are of one thing.
        (
            "Fridays are when the crew deploys from the yard.",
            "A Friday is a day on which nothing gets deployed by any crew.",
        ),
        # One has the opposite of a word of the other.
        (
            "Last spring saw his long thesis on mills done.",
            "His thesis on mills was still undone after a long last spring.",
        ),
        # Talk of one tone.
        (
            "That is great, Nadia, and what a wonderful way to support your neighbours in hard times.",
            "Great to hear that, Nadia; I hope the support group for parents goes on as it began each week.",
        ),
        # One of them asks.
        ("Is the kiln of Osmo Lane hot at nine?", "At nine the kiln of Osmo Lane gets hot."),
        # Two things that one leaves out.
        ("In May Anneke paints tall gates green.", "She paints tall gates green there."),
    ],
)
def test_texts_that_cannot(one: str, other: str) -> None:
    assert not can_restate(one, other)
    assert not can_restate(other, one)
