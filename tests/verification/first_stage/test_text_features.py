"""What a passage says of a claim."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from hydramem.core.row_types import RelationCandidate
from hydramem.text.relation_words import stem, type_wording
from hydramem.verification.first_stage import text_features
from tests.graph.graphs import chunk, entity, relation


def said(passage: str, subject: str, type: str, object: str, **values: object) -> dict[str, float]:
    ends = entity(subject), entity(object)
    candidate = RelationCandidate(
        relation=relation(ends[0], type, ends[1]),
        subject=ends[0],
        object=ends[1],
        passages=(chunk("c", passage, **values),),
    )
    (one,) = text_features.stated_evidence([candidate])
    return dict(zip(text_features.NAMES, one.features, strict=True)) | {"sentence": one.sentence}


@pytest.mark.parametrize(
    ("passage", "claim", "expected"),
    [
        ("Ada leads billing.", ("Ada", "leads", "billing"), {"in_order": 1, "turned": 0, "cue_adjacent": 1}),
        ("Billing is led by Ada.", ("Ada", "leads", "billing"), {"in_order": 1, "turned": 0}),
        ("Billing leads Ada.", ("Ada", "leads", "billing"), {"in_order": 0, "turned": 1}),
        ("Ada does not lead billing.", ("Ada", "leads", "billing"), {"negated": 1}),
        ("Ada leads billing, not Bob.", ("Ada", "leads", "billing"), {"negated": 0}),
        (
            "Jaws was directed by Spielberg.",
            ("Jaws", "director", "Spielberg"),
            {"in_order": 1, "cue_adjacent": 1},
        ),
        ("Spielberg directed Jaws.", ("Jaws", "directed_by", "Spielberg"), {"in_order": 1, "turned": 0}),
        ("Ada was born in Rome.", ("Ada", "date of birth", "Rome"), {"kind_differs": 1, "kind_fits": 0}),
        ("Ada was born on 3 May 1990.", ("Ada", "date of birth", "3 May 1990"), {"kind_fits": 1}),
        (
            "Ada was born on 3 May 1990.",
            ("Ada", "born_on", "1990-05-03"),
            {"object_named": 1, "kind_fits": 1},
        ),
        ("Ada is an Italian film director.", ("Ada", "country of origin", "Italian"), {"subject_differs": 1}),
        ("Jaws is a 1975 American film.", ("Jaws", "country of origin", "American"), {"subject_differs": 0}),
        ("Ada met Bob. She leads billing.", ("Ada", "leads", "billing"), {"same_sentence": 0.6}),
        ("It rained. Ada slept. Bob leads billing.", ("Ada", "leads", "billing"), {"same_sentence": 0}),
        (
            "Jaws stars Scheider and was directed by Spielberg.",
            ("Jaws", "director", "Scheider"),
            {"rival": 1},
        ),
        ("The child of Bob and Eve is Ada.", ("Ada", "child_of", "Eve"), {"rival": 0}),
        ("埃达管理计费系统。", ("埃达", "leads", "计费系统"), {"subject_named": 1, "object_named": 1}),
        ("Анна живёт в Москве.", ("Анна", "lives_in", "Москва"), {"object_named": 0.5}),
        ("Nothing here.", ("Ada", "leads", "billing"), {"object_named": 0, "same_sentence": 0, "text": 1}),
        ("", ("Ada", "leads", "billing"), {"text": 1, "object_named": 0}),
    ],
)
def test_what_a_sentence_says(passage: str, claim: tuple[str, str, str], expected: dict[str, float]) -> None:
    found = said(passage, *claim)
    assert {name: found[name] for name in expected} == pytest.approx(expected)


def test_the_sentence_that_names_the_object_is_kept_for_a_quote() -> None:
    found = said("It rained.  Ada  leads\nbilling. Bob slept.", "Ada", "leads", "billing")
    assert found["sentence"] == "Ada leads billing."
    assert said("It rained.", "Ada", "leads", "billing")["sentence"] is None


def test_a_heading_tells_what_a_passage_is_about() -> None:
    text_only = said("It leads.", "Ada", "leads", "billing")
    assert text_only["subject_topic"] == 0
    assert said("It leads.", "Ada", "leads", "billing", heading_path=("Ada",))["subject_topic"] == 1


def test_of_several_passages_the_one_that_says_most_counts() -> None:
    ends = entity("Ada"), entity("billing")
    passages = chunk("a", "Nothing."), chunk("b", "Ada leads billing."), chunk("c", "Ada met billing staff.")
    candidate = RelationCandidate(
        relation=relation(ends[0], "leads", ends[1]), subject=ends[0], object=ends[1], passages=passages
    )
    assert text_features.stated_evidence([candidate])[0].sentence == "Ada leads billing."


@example("", "A0", "A0", "0.0")
@given(st.text(max_size=200), st.text(max_size=30), st.text(max_size=30), st.text(max_size=30))
def test_any_text_is_read(passage: str, subject: str, type: str, object: str) -> None:
    found = said(f"{passage} {subject} {object}", subject or "x", type, object or "y")
    assert all(0 <= found[name] <= 1 for name in text_features.NAMES)


@pytest.mark.parametrize("name", ["a(b", "C++", "\x00", "\udc80", "[", "x" * 5000, "'; DROP TABLE"])
def test_hostile_names_are_names(name: str) -> None:
    assert said(f"Ada leads {name} now.", "Ada", "leads", name)["object_named"] in (0.0, 1.0)


def test_words_that_state_a_type() -> None:
    assert {stem(word) for word in ("directed", "directs", "directing", "director")} == {"direct"}
    birth = type_wording("dateOfBirth")
    assert (birth.object, birth.subject) == ("date", "person")
    assert stem("born") in birth.cues and stem("died") not in birth.cues
    assert type_wording("directed_by").passive and not type_wording("maintains").passive
    assert stem("orbits") in type_wording("orbits").cues  # a type that no table has states itself
