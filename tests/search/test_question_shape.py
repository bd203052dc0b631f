import pytest
from hypothesis import given
from hypothesis import strategies as st

from hydramem.search.recall_explanation import shape_of


@pytest.mark.parametrize(
    ("query", "names", "shape"),
    [
        ("Where does Ada live?", 1, "fact"),
        ("Was ist das Passwort?", 0, "fact"),
        ("¿Dónde vive Ada?", 1, "fact"),
        ("Who is the mother of the director of Heat?", 1, "multi-hop"),
        ("Wo wurde die Mutter des Regisseurs von Heat geboren?", 1, "multi-hop"),
        ("¿Quién es la madre del director de Heat?", 1, "multi-hop"),
        ("Which film is older, Heat or Ronin?", 2, "comparison"),
        ("Sind Ada und Bo beide Ärzte?", 2, "comparison"),
        ("¿Cuál es más largo, el Ebro o el Tajo?", 2, "comparison"),
        ("When did Ada move?", 1, "time"),
        ("In welchem Jahr zog Ada um?", 1, "time"),
        ("¿Cuánto tiempo duró la reunión?", 0, "time"),
        ("What activities does Ada like?", 1, "list"),
        ("How many times did Ada go there?", 1, "list"),
        ("Wie viele Reisen machte Ada?", 1, "list"),
        ("Enumera los lugares", 0, "list"),
    ],
)
def test_the_words_show_what_is_asked_for(query: str, names: int, shape: str) -> None:
    assert shape_of(query, names=names) == shape


def test_a_choice_needs_two_names() -> None:
    assert shape_of("Which city is it, or is it a town?", names=1) != "comparison"


@given(st.text(max_size=200), st.integers(0, 3))
def test_any_text_has_a_shape(query: str, names: int) -> None:
    assert shape_of(query, names=names) in ("fact", "multi-hop", "comparison", "time", "list")
