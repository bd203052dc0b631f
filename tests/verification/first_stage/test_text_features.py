"""What a passage says of a claim."""

import math
from dataclasses import replace

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from hydramem.core.row_types import Chunk, Entity, RelationCandidate
from hydramem.verification.first_stage import text_features
from tests.graph.graphs import chunk, entity, relation

LEADS, DIRECTOR = ("Ada", "leads", "billing"), ("Jaws", "director", "Spielberg")


def candidate(subject: Entity, type: str, object: Entity, *passages: Chunk) -> RelationCandidate:
    row = relation(subject, type, object)
    return RelationCandidate(relation=row, subject=subject, object=object, passages=passages)


def said(passage: str, subject: str, type: str, object: str, **values: object) -> dict[str, float]:
    asked = candidate(entity(subject), type, entity(object), chunk("c", passage, **values))
    (one,) = text_features.stated_evidence([asked])
    return dict(zip(text_features.NAMES, one.features, strict=True)) | {"sentence": one.sentence}


@pytest.mark.parametrize(
    ("passage", "claim", "expected"),
    [
        ("Jaws was directed by Spielberg.", DIRECTOR, {"in_order": 1, "cue_adjacent": 1}),
        ("Spielberg directed Jaws.", ("Jaws", "directed_by", "Spielberg"), {"in_order": 1, "turned": 0}),
        ("Ada was born in Rome.", ("Ada", "date of birth", "Rome"), {"kind_differs": 1, "kind_fits": 0}),
        ("Ada was born on 3 May 1990.", ("Ada", "date of birth", "3 May 1990"), {"kind_fits": 1}),
        ("Ada, born on 3 May 1990.", ("Ada", "born_on", "1990-05-03"), {"object_named": 1, "kind_fits": 1}),
        ("Ada is an Italian film director.", ("Ada", "country of origin", "Italian"), {"subject_differs": 1}),
        ("Jaws is a 1975 American film.", ("Jaws", "country of origin", "American"), {"subject_differs": 0}),
        ("It rained. Ada slept. Bob leads billing.", LEADS, {"same_sentence": 0}),
        ("Jaws stars Scheider and was directed by Bob.", ("Jaws", "director", "Scheider"), {"rival": 1}),
        ("The child of Bob and Eve is Ada.", ("Ada", "child_of", "Eve"), {"rival": 0}),
        ("埃达管理计费系统。", ("埃达", "leads", "计费系统"), {"subject_named": 1, "object_named": 1}),
        ("Анна живёт в Москве.", ("Анна", "lives_in", "Москва"), {"object_named": 0.5}),
        ("Nothing here.", LEADS, {"object_named": 0, "same_sentence": 0, "text": 1}),
        ("", LEADS, {"text": 1, "object_named": 0}),
    ],
)
def test_what_a_sentence_says(passage: str, claim: tuple[str, str, str], expected: dict[str, float]) -> None:
    found = said(passage, *claim)
    assert {name: found[name] for name in expected} == pytest.approx(expected)


def test_the_sentence_that_names_the_object_is_kept_for_a_quote() -> None:
    found = said("It rained.  Ada  leads\nbilling. Bob slept.", "Ada", "leads", "billing")
    assert found["sentence"] == "Ada leads billing."
    assert said("It rained.", "Ada", "leads", "billing")["sentence"] is None
    assert said("It rained. Ada leads billing", "Ada", "leads", "billing")["sentence"] == "Ada leads billing"
    unspaced = "天下雨。计费系统由埃达管理。"
    assert said(unspaced, "埃达", "leads", "计费系统")["sentence"] == "计费系统由埃达管理。"


def test_where_the_object_is_not_named_nothing_is_said_of_its_place() -> None:
    found = said("Ada leads Sales and works in Rome.", "Ada", "leads", "billing")
    of_a_place = text_features.NAMES[text_features.NAMES.index("same_sentence") :]
    assert not any(found[name] for name in of_a_place if not name.startswith(("kind", "subject")))


def test_a_heading_tells_what_a_passage_is_about() -> None:
    text_only = said("It leads.", "Ada", "leads", "billing")
    assert text_only["subject_topic"] == 0
    assert said("It leads.", "Ada", "leads", "billing", heading_path=("Ada",))["subject_topic"] == 1


@example("", "A0", "A0", "0.0")
@given(st.text(max_size=200), st.text(max_size=30), st.text(max_size=30), st.text(max_size=30))
def test_any_text_is_read(passage: str, subject: str, type: str, object: str) -> None:
    found = said(f"{passage} {subject} {object}", subject or "x", type, object or "y")
    assert all(0 <= found[name] <= 1 for name in text_features.NAMES)


@pytest.mark.parametrize("name", ["a(b", "C++", "\x00", "\udc80", "[", "x" * 5000, "'; DROP TABLE"])
def test_hostile_names_are_names(name: str) -> None:
    assert said(f"Ada leads {name} now.", "Ada", "leads", name)["object_named"] in (0.0, 1.0)


# Where the words stand ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("passage", "words", "adjacent"),
    [
        ("Ada leads billing.", 0, 1),
        ("Ada leads old billing.", 1, 1),
        ("Ada leads the old billing.", 2, 1),
        ("Ada leads the very old billing.", 3, 0),
        # Two words more where the words for the type come after the object.
        ("Billing leads Ada.", 2, 0),
        ("Billing of course leads Ada.", 4, 0),
        ("Billing is led by Ada.", 2, 0),
        ("Ada leads billing, and she leads sales.", 0, 1),
        ("Ada leads sales, but she only leads the billing.", 1, 1),
    ],
)
def test_nearness_is_counted_in_words_from_the_nearest_cue(passage: str, words: int, adjacent: int) -> None:
    found = said(passage, *LEADS)
    assert found["cue_in_sentence"] == 1
    assert found["cue_near"] == pytest.approx(math.exp(-words / 4))
    assert found["cue_adjacent"] == adjacent


@pytest.mark.parametrize("passage", ["Ada knows Led Zeppelin.", "Ada knows The Lead Act."])
def test_the_words_of_a_name_state_nothing(passage: str) -> None:
    name = passage.removeprefix("Ada knows ").removesuffix(".")
    assert said(passage, "Ada", "leads", name)["cue_in_sentence"] == 0
    assert said(f"Ada leads {name}.", "Ada", "leads", name)["cue_near"] == 1


def test_a_sign_that_follows_a_date_at_once_is_a_word() -> None:
    assert said("Ada, 1990† rests here.", "Ada", "date of death", "1990")["cue_in_sentence"] == 1


def test_a_name_that_begins_the_next_sentence_is_not_in_this_one() -> None:
    assert said("谁管理计费系统。埃达睡了。", "埃达", "leads", "计费系统")["same_sentence"] == 0


def test_a_sentence_without_a_word_for_the_type_has_none_near() -> None:
    found = said("Ada met billing.", *LEADS)
    assert (found["cue_in_sentence"], found["cue_adjacent"]) == (0, 0)
    assert 0 < found["cue_near"] < 1e-9


@pytest.mark.parametrize(
    ("passage", "near"),
    [
        ("Ada works in billing.", math.exp(-1 / 4)),
        ("Ada works in old billing.", math.exp(-2 / 4)),
        ("Ada leads billing and works in sales.", 0.0),
        ("Ada met billing.", 0.0),
    ],
)
def test_words_of_another_type_count_where_they_are_nearer(passage: str, near: float) -> None:
    assert said(passage, *LEADS)["other_cue"] == pytest.approx(near)


@pytest.mark.parametrize(
    ("passage", "characters"),
    [
        ("Ada leads billing.", 10),
        ("Billing is led by Ada.", 18),
        ("Ada slept while Ada led billing.", 8),
        ("Ada sees billing as Ada.", 9),
        ("Billing is led by Ada", 18),
        ("Ada leads billing, Ada said.", 9),
        ("Ada slept. Billing grew.", 400),
    ],
)
def test_closeness_falls_with_the_characters_to_the_nearest_subject(passage: str, characters: int) -> None:
    assert said(passage, *LEADS)["closeness"] == pytest.approx(math.exp(-characters / 80))


def far_back(characters: int) -> str:
    """Return a passage whose pronoun begins a sentence so many characters after the name it stands for."""
    named = "It rained. "
    between = "Ada slept. So it went, "
    # The blank before the pronoun belongs to its sentence.
    return f"{named}{between}{'o' * (characters - len(between) - 2)}. She leads billing."


@pytest.mark.parametrize(
    ("passage", "counts"),
    [
        ("Ada leads billing.", 1.0),
        ("Ada slept. She leads billing.", 0.6),
        ("Ada slept. Then she leads billing.", 0.0),
        ("Ada slept. Sheila leads billing.", 0.0),
        ("It rained. She leads billing. Ada slept.", 0.0),
        (far_back(601), 0.6),
        (far_back(602), 0.0),
        (f"Ada slept. {'It rained. ' * 80}She leads billing.", 0.6),
    ],
)
def test_a_pronoun_stands_for_a_topic_or_a_name_shortly_before(passage: str, counts: float) -> None:
    assert said(passage, *LEADS)["same_sentence"] == counts


@pytest.mark.parametrize(
    ("passage", "claim", "order"),
    [
        ("Ada leads billing.", LEADS, 1),
        ("Billing is led by Ada.", LEADS, 1),
        ("Ada is led by billing.", LEADS, -1),
        ("Billing leads Ada.", LEADS, -1),
        ("Ada, by the way, leads billing.", LEADS, 1),
        ("Ada leads billing by night.", LEADS, 1),
        ("Billing leads Ada by night.", LEADS, -1),
        ("By night billing leads Ada.", LEADS, -1),
        ("Ada and billing grew.", LEADS, 1),
        ("Billing and Ada grew.", LEADS, 0),
        ("Who leads? Billing and Ada.", LEADS, 0),
        ("Ada slept. She leads billing.", LEADS, 0),
        ("Billing is led by whoever leads Ada.", LEADS, 1),
        ("Ada Lovelace leads.", ("Ada", "leads", "Ada Lovelace"), 0),
        ("Billing and Led Zeppelin grew.", ("Led Zeppelin", "leads", "billing"), 0),
        ("Led Zeppelin rests by billing.", ("Led Zeppelin", "leads", "billing"), 1),
        ("Ada leads Stand By Me.", ("Ada", "leads", "Stand By Me"), 1),
        ("埃达计费系统。", ("埃达", "leads", "计费系统"), 1),
        ("Jaws was directed by Spielberg.", ("Jaws", "directed_by", "Spielberg"), 1),
        ("Spielberg was directed by Jaws.", ("Jaws", "directed_by", "Spielberg"), -1),
        ("Jaws directed Spielberg.", ("Jaws", "directed_by", "Spielberg"), -1),
    ],
)
def test_which_end_comes_first_is_read_with_the_voice(
    passage: str, claim: tuple[str, str, str], order: int
) -> None:
    found = said(passage, *claim)
    assert (found["in_order"], found["turned"]) == (order > 0, order < 0)


@pytest.mark.parametrize(
    ("passage", "negated"),
    [
        ("Ada never leads billing.", 1),
        ("Ada never very very very very leads billing.", 1),
        ("Ada never very very very very very leads billing.", 0),
        ("Ada leads no billing.", 1),
        ("Ada leads billing, never sales.", 0),
        ("Billing, which Ada does not lead, grew.", 1),
        ("Billing, which Ada leads, never grew.", 0),
        ("Billing grew and Ada doesn\u2019t lead it.", 1),
        ("It never rained. Ada leads billing.", 0),
        ("Ada never met billing.", 1),
        ("Ada leads and loves long the billing she never leads.", 1),
        ("Ada leads sales well, and billing is what she never leads.", 0),
        ("Ada met billing and never slept.", 0),
        ("Never did Ada so often, so well and so gladly meet billing.", 0),
    ],
)
def test_a_negation_denies_what_stands_shortly_after_it(passage: str, negated: int) -> None:
    assert said(passage, *LEADS)["negated"] == negated


@pytest.mark.parametrize(
    ("passage", "claim", "rival"),
    [
        ("Jaws was directed by Scheider and loved by Spielberg.", DIRECTOR, 1),
        ("Jaws was loved by Scheider and directed by Spielberg.", DIRECTOR, 0),
        (
            "In the long and hot summer of that year Jaws was directed by Scheider and loved by Spielberg.",
            DIRECTOR,
            1,
        ),
        ("Directed by Scheider it was not. Jaws was directed for long by Spielberg.", DIRECTOR, 0),
        ("Jaws was directed in 1975 by Spielberg.", DIRECTOR, 0),
        ("Jaws was directed by Steven Spielberg.", DIRECTOR, 0),
        ("The film directed with care is Jaws of Spielberg.", DIRECTOR, 0),
        ("The film directed with care is Psycho, as Jaws is of Spielberg.", DIRECTOR, 1),
        ("Jaws was released on 3 May 1990 and sold on 4 June 2000.", ("Jaws", "released", "4 June 2000"), 1),
        ("Jaws was released by Scheider on 4 June 2000.", ("Jaws", "released", "4 June 2000"), 0),
        (f"Jaws was directed by Bob,{' ' * 39}Spielberg.", DIRECTOR, 0),
        (f"Jaws was directed by Bob,{' ' * 40}Spielberg.", DIRECTOR, 1),
        ("Jaws was directed by Bob, Eve and Spielberg.", DIRECTOR, 0),
        ("Scheider directed what was loved by Spielberg.", DIRECTOR, 1),
        ("Ada knows that Lead hates billing.", LEADS, 0),
        ("Ada knows that Bob leads the old billing.", LEADS, 0),
        ("Ada knows that Bob leads the very old billing.", LEADS, 1),
        ("Jaws was directed by Bob, Eve, who slept, and Spielberg.", DIRECTOR, 1),
    ],
)
def test_another_name_of_the_kind_that_is_nearer_to_the_words_is_a_rival(
    passage: str, claim: tuple[str, str, str], rival: int
) -> None:
    assert said(passage, *claim)["rival"] == rival


def test_the_words_of_a_list_state_nothing_right_before_it() -> None:
    found = said("Ada knows Led Zeppelin and Spielberg.", "Ada", "leads", "Spielberg")
    assert (found["cue_in_sentence"], found["cue_adjacent"]) == (1, 0)


@pytest.mark.parametrize("name", ["Bob", "Eve", "Spielberg"])
def test_what_a_list_does_each_of_it_does(name: str) -> None:
    found = said("Jaws was directed by Bob, Eve and Spielberg.", "Jaws", "director", name)
    assert (found["rival"], found["cue_adjacent"]) == (0, 1)
    assert found["cue_near"] == said("Jaws was directed by Bob.", "Jaws", "director", "Bob")["cue_near"]


# What the ends are ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("type", "object", "fits"),
    [
        ("date of birth", "3 May 1990", True),
        ("date of birth", "Rome", False),
        ("lives_in", "Rome", True),
        ("lives_in", "home", True),
        ("lives_in", "1990", False),
        ("lives_in", "12.5", False),
        ("citizenship", "Italy", True),
        ("citizenship", "1990", False),
        ("director", "Spielberg", True),
        ("director", "chance", True),
        ("director", "1975", False),
        ("director", "12.5", False),
        ("leads", "Rome", None),
    ],
)
def test_a_type_takes_objects_of_some_kind(type: str, object: str, fits: bool | None) -> None:
    found = said(f"Ada knows {object} well.", "Ada", type, object)
    assert (found["kind_fits"], found["kind_differs"]) == (fits is True, fits is False)


def test_the_adjective_of_a_nation_is_a_nation_and_no_place() -> None:
    passage = "Ada is an Italian poet."
    assert said(passage, "Ada", "citizenship", "Italian")["kind_fits"] == 1
    assert said(passage, "Ada", "lives_in", "Italian")["kind_differs"] == 1
    assert said(passage, "Ada", "director", "Italian")["kind_differs"] == 1


@pytest.mark.parametrize(
    ("known", "type", "fits"),
    [
        ("person", "date of birth", True),
        ("work", "date of birth", False),
        ("work", "director", True),
        ("person", "director", False),
        ("work", "country", True),
        ("person", "country", False),
        ("thing", "date of birth", None),
        ("person", "leads", None),
    ],
)
def test_a_type_is_had_by_subjects_of_some_kind(known: str, type: str, fits: bool | None) -> None:
    row = candidate(replace(entity("X"), type=known), type, entity("Y"), chunk("c", "It rained. X met Y."))
    found = dict(zip(text_features.NAMES, text_features.stated_evidence([row])[0].features, strict=True))
    assert (found["subject_fits"], found["subject_differs"]) == (fits is True, fits is False)


LIFE = "Ada (1815 - 1852) was a writer."


@pytest.mark.parametrize(
    ("passage", "claim", "stated"),
    [
        (LIFE, ("Ada", "date of birth", "1815"), True),
        (LIFE, ("Ada", "date of death", "1852"), True),
        (LIFE, ("Ada", "date of birth", "1852"), False),
        (LIFE, ("Ada", "date of death", "1815"), False),
    ],
)
def test_the_dates_of_a_life_need_no_words(passage: str, claim: tuple[str, str, str], stated: bool) -> None:
    found = said(passage, *claim)
    names = ("cue_in_sentence", "cue_adjacent", "rival", "other_cue")
    assert [found[name] for name in names] == ([1, 1, 0, 0] if stated else [0, 0, 1, 1])
    assert found["cue_near"] == (1 if stated else pytest.approx(0, abs=1e-9))


def test_the_dates_of_a_life_are_those_of_who_the_passage_is_about() -> None:
    of_another = f"It rained. {LIFE}"
    assert said(of_another, "Ada", "date of birth", "1815")["rival"] == 0
    assert said(of_another, "Ada", "date of death", "1815")["rival"] == 0
    assert said(LIFE, "Ada", "founded", "1815")["rival"] == 0


# What is looked at ----------------------------------------------------------------------------------


@pytest.mark.parametrize(("before", "found"), [(7, 1.0), (8, 0.0)])
def test_the_first_eight_places_of_an_object_are_looked_at(before: int, found: float) -> None:
    passage = f"{'Sales, billing. ' * before}Ada leads billing."
    assert said(passage, *LEADS)["same_sentence"] == found


@pytest.mark.parametrize(
    ("passage", "found"),
    [
        (f"Ada leads {'very ' * 99}billing", 1.0),
        (f"Ada leads {'very ' * 100}billing", 0.0),
        (f"billing {'very ' * 97}Ada leads", 1.0),
        (f"billing {'very ' * 98}Ada leads", 0.0),
    ],
)
def test_a_hundred_words_on_either_side_are_looked_at(passage: str, found: float) -> None:
    assert said(passage, *LEADS)["cue_in_sentence"] == found


def test_a_quote_is_cut() -> None:
    passage = f"Ada leads billing {'and rests ' * 60}now."
    assert said(passage, *LEADS)["sentence"] == passage[:400]


@pytest.mark.parametrize(
    ("worse", "better"),
    [
        ("Nothing.", "Ada met billing."),
        ("Billing grew.", "Ada met billing."),
        ("Ada met billing.", "Ada slept. She leads billing."),
        ("Bob slept. He leads the very old billing.", "Bob leads the big and very old billing."),
        ("Ada leads the very old and dull billing.", "Ada leads billing."),
        ("Bob leads Sales and Ada meets billing.", "Ada leads sales and billing."),
        ("Ada met billing.", "She leads the old billing."),
        ("Ada leads the old billing.", f"Ada in the {'hot and long ' * 6}summer leads the billing."),
        ("Ada leads the very old and dull billing.", "Ada leads the very old billing."),
        ("Ada leads Bob into billing.", "Ada leads what is very old billing."),
    ],
)
def test_the_passage_and_the_place_that_say_most_count(worse: str, better: str) -> None:
    claim = ("Bob" if better.startswith("Bob") else "Ada", "leads", "billing")
    best = said(better, *claim)["sentence"]
    for passages in ((worse, better), (better, worse)):
        chunks = (chunk(text, text) for text in passages)
        asked = candidate(entity(claim[0]), "leads", entity("billing"), *chunks)
        assert text_features.stated_evidence([asked])[0].sentence == best
        assert said(" ".join(passages), *claim)["sentence"] == best


def test_claims_without_passages_have_zeros() -> None:
    bare = candidate(entity("Ada"), "leads", entity("billing"))
    full = replace(bare, passages=(chunk("c", "Ada leads billing."),))
    found = text_features.matrix(text_features.stated_evidence([bare, full, bare]))
    assert found.shape == (3, len(text_features.NAMES))
    assert not found[[0, 2]].any()
    assert found[1, text_features.NAMES.index("same_sentence")] == 1
    assert text_features.matrix([]).shape == (0, len(text_features.NAMES))
