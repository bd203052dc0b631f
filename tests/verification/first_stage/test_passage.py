"""A passage taken apart: where it names things, what they look like, and what it is about."""

from dataclasses import replace

import pytest

from hydramem.core.row_types import Entity
from hydramem.verification.first_stage.passage import (
    ParsedPassage,
    is_topic,
    kind_of,
    parse_passage,
    places,
    subject_kind,
)
from tests.graph.graphs import chunk, entity


def parsed(text: str, **values: object) -> ParsedPassage:
    return parse_passage(chunk("c", text, **values))


def named(text: str, name: str, *aliases: str) -> tuple[list[str], float]:
    """Return what a passage says where it names an entity, and how surely that is its name."""
    found, sure = places(parsed(text), entity(name, aliases=aliases))
    return [text[begin:end] for begin, end in found], sure


@pytest.mark.parametrize(
    ("text", "name", "found", "sure"),
    [
        ("Ada leads billing.", "Ada", ["Ada"], 1),
        ("ADA met ada.", "Ada", ["ADA", "ada"], 1),
        ("Adam met Nevada.", "Ada", [], 0),
        ("Ada_1 met 1Ada and AdaX.", "Ada", [], 0),
        ("(Ada) met Ada's \u201cAda\u201d.", "Ada", ["Ada", "Ada", "Ada"], 1),
        ("aba aba aba", "aba aba", ["aba aba"], 1),
        ("xAda Ada", "Ada", ["Ada"], 1),
        ("Ada", " Ada ", ["Ada"], 1),
        ("We use C++ here.", "C++", ["C++"], 1),
        ("\u57c3\u8fbe\u7ba1\u7406", "\u57c3\u8fbe", ["\u57c3\u8fbe"], 1),
        ("Straße und Ada", "Ada", ["Ada"], 1),
        ("\u0130stanbul und Ada", "Ada", ["Ada"], 1),
        ("Lovelace leads billing.", "Ada Lovelace", ["Lovelace"], 0.5),
        ("Lovelaces lead billing.", "Ada Lovelace", ["Lovelaces"], 0.5),
        ("Ada leads billing.", "Ada Lovelace", [], 0),
        ("xLovelace leads billing.", "Ada Lovelace", [], 0),
        ("Ada Lovelace met Lovelace.", "Ada Lovelace", ["Ada Lovelace"], 1),
        ("The Bayer group grew.", "Karl Baye", ["Bayer"], 0.5),
        ("The Bay group grew.", "Karl Bay", ["Bay"], 0),
        ("They went there with it.", "Ada With", [], 0),
        ("R2D2 beeps.", "Droid R2D2", [], 0),
        ("Lovelies slept.", "Ada Lovelace", [], 0),
        ("Lovelady slept.", "Ada Lovelace", ["Lovelady"], 0.5),
        ("The Lovelaces slept.", "Lovelace", ["Lovelaces"], 0.5),
        ("The kings slept.", "Ada King Lovelace", [], 0),
        ("Ada Ada", "Ada", ["Ada", "Ada"], 1),
        ("a a a", "a a", ["a a"], 1),
        ("x+++", "++", ["++"], 1),
        ("\u57c3\u8fbe\u57c3\u8fbe", "\u57c3\u8fbe", ["\u57c3\u8fbe", "\u57c3\u8fbe"], 1),
        ("With Ada\u57c3\u8fbe.", "Ada\u57c3", ["Ada\u57c3"], 1),
    ],
)
def test_a_name_is_found_as_whole_words_or_by_its_last_word(
    text: str, name: str, found: list[str], sure: float
) -> None:
    assert named(text, name) == (found if sure else [], sure)


def test_every_alias_is_a_name() -> None:
    assert named("Countess Ada met the Enchantress.", "Ada", "Enchantress") == (["Ada", "Enchantress"], 1)
    assert named("The Enchantress slept.", "Ada Lovelace", "Enchantress") == (["Enchantress"], 1)
    assert named("Ada slept.", "Ada", "", " ") == (["Ada"], 1)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("She was born on 3 May 1990.", ["3 May 1990"]),
        ("She was born on May 3, 1990.", ["May 3, 1990"]),
        ("She was born in 1990.", []),
    ],
)
def test_a_date_is_found_however_it_is_written(text: str, found: list[str]) -> None:
    assert named(text, "1990-05-03") == (found, float(bool(found)))


@pytest.mark.parametrize(("characters", "found"), [(100, 1.0), (101, 0.0)])
def test_a_date_is_looked_for_near_the_beginning_of_a_name(characters: int, found: float) -> None:
    name = f"{'x' * (characters - 11)} 3 May 1990"
    assert len(name) == characters
    date = replace(entity(name), type="date")
    assert places(parsed("She was born on May 3, 1990."), date)[1] == found


@pytest.mark.parametrize(
    ("name", "type", "kind"),
    [
        ("3 May 1990", "thing", "date"),
        ("(3 May 1990)", "thing", "date"),
        ("((3 May 1990)", "thing", "word"),
        ("the day after 3 May 1990", "thing", "word"),
        ("1990", "thing", "date"),
        ("990", "thing", "date"),
        ("90", "thing", "number"),
        ("12345", "thing", "number"),
        ("12.5 %", "thing", "number"),
        ("Ada", "thing", "name"),
        ("billing", "thing", "word"),
        ("Italian", "thing", "demonym"),
        ("Rome", "place", "place"),
        ("the day we met", "date", "date"),
        ("Ada", "person", "name"),
    ],
)
def test_what_a_name_looks_like(name: str, type: str, kind: str) -> None:
    assert kind_of(replace(entity(name), type=type)) == kind


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("Ada is an Italian poet.", "demonym"),
        ("Ada is Italian-born.", "demonym"),
        ("Ada speaks Italian and Dutch.", "name"),
        ("Ada speaks Italian.", "name"),
        ("The Italian is here.", "name"),
        ("Nothing of it.", "name"),
    ],
)
def test_the_adjective_of_a_nation_stands_before_a_noun(text: str, kind: str) -> None:
    assert kind_of(entity("Italian"), parsed(text)) == kind


def topic(text: str, **values: object) -> bool:
    reading, ada = parsed(text, **values), entity("Ada")
    return is_topic(reading, ada, places(reading, ada)[0])


@pytest.mark.parametrize(
    ("text", "about"),
    [
        ("Ada leads billing. It rained.", True),
        ("It rained. Ada leads billing.", False),
        ("On Ada\nIt rained. It poured.", True),
        ("It rained.\nAda leads billing.", False),
        ("It rained.", False),
        ("Ada leads billing. So she sleeps, says Ada.", True),
        ("It rained on Ada", True),
        ("\u5b83\u4e0b\u96e8\u3002Ada leads billing.", False),
    ],
)
def test_a_passage_is_about_what_its_first_sentence_or_heading_names(text: str, about: bool) -> None:
    assert topic(text) is about
    assert topic(text, heading_path=("People", "ADA")) is True
    assert topic(text, heading_path=("People",)) is about


@pytest.mark.parametrize(
    ("text", "about"),
    [
        ("Ada is a Danish film director who sings.", "person"),
        ("Jaws is a 1975 film directed by a person.", "work"),
        ("Jaws is a film. Ada is a writer.", "work"),
        ("It rained. Jaws was the film of the year.", "work"),
        ("It rained. It poured. Jaws was a film.", ""),
        ("Jaws likes a film.", ""),
        ("Ada (born 1815) leads billing.", "person"),
        ("Ada (1815 \u2013 1852) leads billing.", "person"),
        ("Ada was born here.", "person"),
        (f"{'So it goes. ' * 40}Ada was born here.", ""),
        ("Ada is one of the writers.", ""),
        ("born in Rome, Ada slept.", "person"),
        (f"{'x' * 395} born here", "person"),
        (f"{'x' * 396} born here", ""),
    ],
)
def test_what_a_passage_introduces_its_topic_as(text: str, about: str) -> None:
    assert parsed(text).about == about


@pytest.mark.parametrize(
    ("known", "text", "is_about", "kind"),
    [
        ("person", "It rained.", True, "person"),
        ("thing", "It rained.", True, ""),
        ("thing", "X is a film.", True, "work"),
        ("thing", "X is a film.", False, ""),
        ("work", "X is a film.", True, "work"),
        ("person", "X is a film.", True, ""),
        ("person", "X is a film.", False, "person"),
    ],
)
def test_what_a_subject_is_where_nothing_contradicts_it(
    known: str, text: str, is_about: bool, kind: str
) -> None:
    subject: Entity = replace(entity("X"), type=known)
    assert subject_kind(parsed(text), subject, is_about) == kind


def test_the_two_dates_of_a_life_stand_together_near_the_beginning() -> None:
    def life(text: str) -> dict[str, str]:
        reading = parsed(text)
        return {text[begin : begin + 4]: role for begin, role in reading.life.items()}

    both = {"1815": "born", "1852": "died"}
    assert life("Ada (1815 - 1852) was a writer.") == both
    assert life("Ada (a countess) (1815\u20131852) was a writer.") == both
    assert life(f"Ada {'o' * 382} (1815 - 1852).") == both
    assert life(f"Ada {'o' * 383} (1815 - 1852).") == {}
    assert life("(1815 - 1852) was the life of Ada.") == both
    assert life("Ada (Rome 1815 - 1852) was a writer.") == both
    assert life("Ada (1815 - 1852) was read in 1900.") == both
    assert life("Ada (1815 - 1852)1860 was a writer.") == both
    assert life("Ada (1815) and Eve (1852).") == {}
    assert life("Ada (1815 or 1852) was a writer.") == {}
    assert life("Ada (1815 - 1852 - 1860) was a writer.") == {}
    assert life("Ada, 1815 - 1852, was a writer.") == {}


def test_a_passage_is_words_and_sentences_of_its_text() -> None:
    reading = parsed("Rome is a city. Ada's old cat isn't well-known.")
    assert reading.words[:3] == ("rome", "=", "a")
    assert [reading.text[begin:].split()[0] for begin in reading.starts.tolist()][:3] == ["Rome", "is", "a"]
    assert len(reading.words) == len(reading.starts) == 9
    assert [reading.text[begin:end].strip() for begin, end in reading.sentences] == [
        "Rome is a city.",
        "Ada's old cat isn't well-known.",
    ]
    assert parsed("Rome is here.").words[1] != "="
    assert parsed("They were the best.").words[1] == "="
    assert parsed("Rome is").words[-1] != "="


def test_what_stands_above_a_passage_is_its_headings_and_first_line() -> None:
    assert parsed("Title\nText.", heading_path=("A", "B")).heads == "a\nb\ntitle"
    assert parsed("Only one line.", heading_path=("A",)).heads == "a\n"
    assert parsed("Title\n").heads == ""


def test_a_long_passage_is_read_to_a_bound() -> None:
    assert len(parsed("word " * 5_000).text) == 20_000


@pytest.mark.parametrize(
    ("text", "phrase", "type"),
    [
        ("Billing is led by Ada.", "is led by", "leads"),
        ("Jaws was directed by Spielberg.", "directed by", "directed_by"),
        ("Billing was decided on by Ada.", "decided on", "decided_on"),
        ("Ada lives in Rome.", "lives in", "lives_in"),
    ],
)
def test_phrases_are_told_with_their_type(text: str, phrase: str, type: str) -> None:
    assert [(text[begin:end], found) for begin, end, found in parsed(text).phrases] == [(phrase, type)]
