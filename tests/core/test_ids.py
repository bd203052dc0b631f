import unicodedata
from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st

from hydramem.core import ids
from hydramem.text.normalize import entity_key

ANY_TEXT = st.text(st.characters(codec=None))  # lone surrogates included


def test_spellings_of_one_name_have_one_key_and_different_names_have_different_keys():
    for spellings in ("É E\u0301", "STRASSE straße", "ＡＢＣ abc", "МОСКВА Москва"):
        assert len(set(map(entity_key, spellings.split()))) == 1
    assert entity_key("  Ada   Lovelace ") == entity_key("ada lovelace")
    names = ["C", "C++", "C#", "c-", "Москва", "東京", "京都", "É", "E", ".NET", "NET"]
    assert len(set(map(entity_key, names))) == len(names)


@given(ANY_TEXT)
def test_a_key_is_its_own_key(name):
    assert entity_key(entity_key(name)) == entity_key(name)


@given(st.text())
def test_a_key_does_not_see_composition(name):
    assert entity_key(unicodedata.normalize("NFD", name)) == entity_key(unicodedata.normalize("NFC", name))


@given(ANY_TEXT, ANY_TEXT, ANY_TEXT, ANY_TEXT)
def test_documents_share_an_id_only_if_all_parts_are_equal(a, b, c, d):
    assert (ids.document_id(a, b) == ids.document_id(c, d)) == ((a, b) == (c, d))


def test_a_relation_that_holds_twice_is_two_relations():
    first, second = datetime(2019, 1, 1, tzinfo=UTC), datetime(2023, 1, 1, tzinfo=UTC)
    held = {ids.relation_id("p", "Ada", "works_at", "Acme", when) for when in (None, first, second)}
    assert len(held) == 3


def test_ids_are_the_same_in_every_process():
    # A store outlives the process: a change of the scheme needs a migration.
    assert ids.document_id("default", "notes.md") == "d_d9886b7ba7cd14a43e04ba0177cabbc2"
