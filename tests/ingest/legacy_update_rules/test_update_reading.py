"""Reading memories as statements: one form for what is said in several, and nothing lost."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hydramem.ingest.legacy_update_rules.clause_tokens import ClauseStatement, number, tokens
from hydramem.ingest.legacy_update_rules.update_reading import MOST_CHARS, reading


def only(text: str) -> ClauseStatement:
    (statement,) = reading(text).statements
    return statement


def said(statement: ClauseStatement) -> list[tuple[str, str]]:
    return [(phrase.kind, " ".join(phrase.forms)) for phrase in statement.phrases]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("3 pm", "15:00"),
        ("8:12 Uhr", "8:12"),
        ("4 May 2026", "2026-05-04"),
        ("May 4th", "4. Mai"),
        ("15 de junio", "June 15"),
        ("1,000", "1.000"),
        ("€950", "950 euros"),
        ("every Friday", "Fridays"),
        ("jeden Montag", "los lunes"),
        ("don't", "do not"),
        ("Mr. Petrov", "Mr Petrov"),
        ("five", "5"),
    ],
)
def test_what_is_written_otherwise_and_is_the_same(one: str, other: str) -> None:
    assert [token.form for token in tokens(one)] == [token.form for token in tokens(other)]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("3.10", "3.1"),
        ("C", "C++"),
        ("-5", "5"),
        ("Friday", "Fridays"),
        ("v2.4.1", "v2.4.2"),
        ("3 am", "3 pm"),
    ],
)
def test_what_tells_things_apart_is_kept(one: str, other: str) -> None:
    assert reading(f"it is {one}").signature != reading(f"it is {other}").signature


def test_numbers_have_one_form() -> None:
    assert number("1,234,567") == number("1.234.567") == "1234567"
    assert number("3,5") == number("3.5")
    assert number("16.0") == "16"


@pytest.mark.parametrize(
    ("text", "subject", "attribute"),
    [
        ("Priya is my manager.", {"i", "manager"}, "is"),
        ("My manager's name is Priya.", {"i", "manager"}, "is"),
        ("We use Redis as our cache.", {"we", "cache"}, "is"),
        ("Nuestra base de datos es MongoDB.", {"we", "base", "datos"}, "is"),
        ("Ada is living in Berlin.", {"ada"}, "live"),
        ("Seit März arbeitet Jonas bei Siemens.", {"jonas"}, "work"),
        ("Ahora vivo en Granada.", {"i"}, "live"),
        ("On Monday the shipment arrives.", {"shipment"}, "arrive"),
        ("Sample size: 120 participants", {"sample", "size"}, "is"),
    ],
)
def test_ways_to_say_one_thing_have_one_form(text: str, subject: set[str], attribute: str) -> None:
    statement = only(text)
    assert (statement.subject, statement.attribute) == (subject, attribute)


def test_cues_are_understood_and_taken_out() -> None:
    ended = only("Peter arbeitet nicht mehr bei der Telekom.")
    assert ended.negated
    assert ended.ended
    assert said(ended) == [("thing", "telekom")]
    instead = only("We ship with UPS instead of DHL now.")
    assert (instead.now, instead.replaced) == (True, {"dhl"})
    assert said(instead) == [("thing", "ups")]
    rather = only("Das Training findet nicht montags, sondern donnerstags statt.")
    assert not rather.negated
    assert said(rather) == [("date", "w3*")]
    assert only("We might switch to MySQL.").unsure
    assert only("I want to move to Lisbon.").unsure


def test_a_pronoun_is_what_was_spoken_of() -> None:
    _, expires = reading("I renewed my passport, it expires in 2036.").statements
    assert expires.subject == {"i", "passport"}


def test_questions_state_nothing() -> None:
    assert reading("Is Ada in Berlin?").statements == ()


def test_a_long_text_is_read_for_its_words_alone() -> None:
    text = "Ada lives in Berlin. " * (MOST_CHARS // 20 + 1)
    assert reading(text).statements == ()
    assert reading(text).signature == reading(text.upper()).signature != reading(text + "2").signature


@given(st.text(max_size=300))
def test_any_text_can_be_read(text: str) -> None:
    assert reading(text) == reading(text)


@given(
    st.lists(st.sampled_from(["not", "Ada", "is", "in", ":", ",", "5", "€", "an", "mehr", "sondern", "."]))
)
def test_any_order_of_words_can_be_read(parts: list[str]) -> None:
    reading(" ".join(parts))
