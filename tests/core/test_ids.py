import unicodedata
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hydramem.core import ids
from hydramem.text.normalize import entity_key

ANY_TEXT = st.text(st.characters(codec=None))  # lone surrogates included


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("É", "E\u0301"),
        ("STRASSE", "straße"),
        ("  Ada   Lovelace ", "ada lovelace"),
        ("ＡＢＣ", "abc"),
        ("МОСКВА", "Москва"),
    ],
)
def test_spellings_of_one_name_have_one_key(one, other):
    assert entity_key(one) == entity_key(other)


def test_different_names_have_different_keys():
    names = ["C", "C++", "C#", "c-", "Москва", "東京", "京都", "É", "E", ".NET", "NET"]
    assert len({entity_key(name) for name in names}) == len(names)


@given(ANY_TEXT)
def test_a_key_is_its_own_key(name):
    assert entity_key(entity_key(name)) == entity_key(name)


@given(st.text())
def test_a_key_does_not_see_composition(name):
    assert entity_key(unicodedata.normalize("NFD", name)) == entity_key(unicodedata.normalize("NFC", name))


@given(ANY_TEXT, ANY_TEXT, ANY_TEXT, ANY_TEXT)
def test_documents_share_an_id_only_if_all_parts_are_equal(a, b, c, d):
    assert (ids.document_id(a, b) == ids.document_id(c, d)) == ((a, b) == (c, d))


def test_parts_kinds_and_places_do_not_run_into_each_other():
    assert ids.document_id("ab", "c") != ids.document_id("a", "bc")
    assert ids.session_id("p", "x") != ids.document_id("p", "x") != ids.entity_id("p", "x")
    assert ids.turn_id("s", 0) != ids.turn_id("s", 1) != ids.turn_id("s", 1, part=1)


def test_a_relation_that_holds_twice_is_two_relations():
    first, second = datetime(2019, 1, 1, tzinfo=UTC), datetime(2023, 1, 1, tzinfo=UTC)
    held = {ids.relation_id("p", "Ada", "works_at", "Acme", when) for when in (None, first, second)}
    assert len(held) == 3


def test_ids_are_the_same_in_every_process():
    # A store outlives the process: a change of the scheme needs a migration.
    assert ids.document_id("default", "notes.md") == "d_d9886b7ba7cd14a43e04ba0177cabbc2"


def test_fresh_ids_differ_and_fit_into_a_row_of_the_engines():
    assert len({ids.new_id("x") for _ in range(1000)}) == 1000
    assert len(ids.new_id("x").encode()) == 12


def test_content_hash_takes_text_and_bytes():
    assert ids.content_hash("é") == ids.content_hash("é".encode())
    assert ids.content_hash("\ud800") != ids.content_hash("")
