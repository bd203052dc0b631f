import pytest

from hydramem.search.relevance.shared_grams import shared_grams


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("Wann wurde die Heizung gewartet?", "Der Techniker hat die Heizungen im Mai gewartet."),
        ("когда чинили котёл", "Котла починили в мае."),
        ("図書館はいつ開きますか", "図書館は九時に開く。"),
        ("보일러 수리", "보일러를 오월에 수리했다."),
    ],
)
def test_words_in_other_forms_share_rows_of_letters(query: str, text: str) -> None:
    assert shared_grams(query, [text]) > 0.2 > shared_grams(query, ["Zebra quilts, 1999."])


def test_short_numbers_are_compared_whole() -> None:
    assert shared_grams("12", ["room 12"]) == 1 > shared_grams("12", ["room 121"])
