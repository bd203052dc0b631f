"""Claims beside the others of their passages: which contest which, and what each is worth then."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hydramem.core.row_types import DOUBTED, Relation
from hydramem.verification.first_stage.weights import DEFAULT
from hydramem.verification.rival_claims import FIRST, in_company, with_rival
from tests.examples import FEW
from tests.graph.graphs import entity, relation

FILM, BO, CY, DI, PRIZE, DAY = (entity(name) for name in ("Film", "Bo", "Cy", "Di", "Prize", "1936-05-01"))


def claim(subject: Any, type: str, object: Any, probability: float = 0.8, **fields: Any) -> Relation:
    given = {"evidence": ("c1",), "verdict": "accepted", "probability": probability, "verifier": "srmkg:1"}
    return relation(subject, type, object, **(given | fields))


def probabilities(*rows: Relation, dates: frozenset[str] = frozenset()) -> dict[str, float]:
    found = in_company(rows, DEFAULT, dates=dates)
    return {id: each.probability for id, each in found.items()}


def test_of_two_claims_of_one_object_in_a_passage_the_weaker_is_doubted() -> None:
    right, wrong = claim(FILM, "directed_by", BO, 0.85), claim(CY, "directed_by", BO, 0.5)
    found = probabilities(right, wrong, claim(FILM, "features", CY))
    assert found[right.id] > 0.7 and found[wrong.id] < DOUBTED
    assert set(found) == {right.id, wrong.id}, "what nothing contests stays as it is"


def test_what_a_passage_names_as_an_object_is_no_subject_of_the_same_type() -> None:
    cast, wrong = claim(FILM, "features", BO, 0.85), claim(BO, "features", CY, 0.6)
    assert probabilities(cast, wrong) == {wrong.id: pytest.approx(1.5 / (1 + 1.5 + 0.85 / 0.15), rel=1e-3)}
    both_ways = replace(wrong, bidirectional=True)
    assert probabilities(cast, both_ways) == {}


def test_a_date_is_said_of_things() -> None:
    turned = claim(DAY, "died_on", BO, 0.8)
    assert probabilities(turned, dates=frozenset((DAY.id,)))[turned.id] < DOUBTED
    assert probabilities(claim(BO, "died_on", DAY), dates=frozenset((DAY.id,))) == {}


@pytest.mark.parametrize(
    "vouched",
    [{"origin": "asserted"}, {"verifier": "person:ada"}, {"verifier": "vog:model"}, {"origin": "inferred"}],
)
def test_what_somebody_vouches_for_contests_and_is_not_weighed(vouched: dict[str, str]) -> None:
    sure, wrong = claim(CY, "directed_by", BO, **vouched), claim(FILM, "directed_by", BO, 0.5)
    assert set(probabilities(sure, wrong)) == {wrong.id}


def test_weighing_again_changes_nothing_and_without_a_rival_the_first_estimate_is_back() -> None:
    right, wrong = claim(FILM, "directed_by", BO, 0.85), claim(CY, "directed_by", BO, 0.5)
    known = in_company((right, wrong), DEFAULT)
    weighed = [known[row.id].weighed(row) for row in (right, wrong)]
    again = in_company(weighed, DEFAULT)
    assert [again[row.id].weighed(row) for row in weighed] == weighed
    alone = in_company(weighed[1:], DEFAULT)[wrong.id].weighed(weighed[1])
    assert alone == wrong and FIRST in weighed[1].scores


def test_words_that_say_little_count_before_a_graph_that_says_much() -> None:
    scores = {"text": 1.0, "subject_named": 0.5, "object_named": 0.5}
    faint = claim(CY, "directed_by", BO, 0.8, scores=scores)
    rival = claim(FILM, "directed_by", BO, 0.8)
    assert probabilities(faint, rival)[faint.id] < probabilities(replace(faint, scores={}), rival)[faint.id]


claims = st.lists(
    st.tuples(
        *(st.integers(0, 3), st.sampled_from("ab"), st.integers(0, 3), st.floats(0.1, 0.85)),
        st.sets(st.sampled_from(["c1", "c2"]), min_size=1),
    ),
    max_size=12,
    unique_by=lambda each: each[:3],
)


@FEW
@given(claims)
def test_the_arrays_say_what_the_definition_says(drawn: list[tuple[int, str, int, float, set[str]]]) -> None:
    ends = (FILM, BO, CY, DI)
    rows = [
        claim(ends[one], type, ends[other], probability, evidence=tuple(sorted(passages)))
        for one, type, other, probability, passages in drawn
        if one != other
    ]

    def odds(row: Relation) -> float:
        return row.probability / (1 - row.probability)

    expected = {}
    for row in rows:
        in_each = []
        for passage in row.evidence:
            there = [
                one for one in rows if one is not row and one.type == row.type and passage in one.evidence
            ]
            same = max((odds(one) for one in there if one.object == row.object), default=0.0)
            turned = max((odds(one) for one in there if one.object == row.subject), default=0.0)
            in_each.append(same + turned)
        if min(in_each):
            expected[row.id] = with_rival(row.probability, min(in_each))
    assert probabilities(*rows) == pytest.approx(expected, abs=1e-3)
