import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hydramem.core.row_types import RelationCandidate
from hydramem.graph.snapshot.snapshot_writer import load
from hydramem.verification.first_stage import first_stage
from hydramem.verification.first_stage.weights import DEFAULT
from tests.graph.graphs import P, chunk, entity, relation, tables

ADA, BILLING, MYSQL = entity("Ada Lovelace"), entity("billing"), entity("MySQL")
EMPTY = load(P, *tables())


def candidate(text: str | None, type: str = "maintains", subject=ADA, object=BILLING) -> RelationCandidate:
    passages = () if text is None else (chunk("c", text),)
    return RelationCandidate(
        relation=relation(subject, type, object), subject=subject, object=object, passages=passages
    )


def scores(*candidates: RelationCandidate, snapshot=EMPTY) -> list[float]:
    verdicts = first_stage.first_verdicts(
        candidates, snapshot, weights=DEFAULT, accept_at=0.7, reject_below=0.3
    )
    return [verdict.score for verdict in verdicts]


def test_a_stated_relation_survives_an_empty_graph() -> None:
    stated, denied, bare = scores(
        candidate("Ada Lovelace maintains billing."),
        candidate("Ada Lovelace never maintains billing."),
        candidate(None),
    )
    assert stated >= 0.3
    assert denied < stated
    assert bare >= 0.3


def test_nothing_to_judge() -> None:
    assert first_stage.first_verdicts([], EMPTY, weights=DEFAULT, accept_at=0.7, reject_below=0.3) == ()
    assert first_stage.features([], EMPTY).shape == (0, len(first_stage.NAMES))


def test_a_graph_that_knows_better_makes_a_claim_likelier() -> None:
    people, tools = [entity(f"person {n}") for n in range(8)], [entity(f"tool {n}") for n in range(8)]
    edges = [relation(one, "leads", other) for one, other in zip(people, tools, strict=True)]
    edges += [relation(one, "maintains", other) for one, other in zip(people[:7], tools, strict=False)]
    snapshot = load(P, *tables(*people, *tools, *edges))
    likely, unlikely = scores(
        candidate(None, "maintains", people[7], tools[7]),
        candidate(None, "maintains", people[7], tools[2]),
        snapshot=snapshot,
    )
    assert likely > unlikely


def test_a_verdict_says_why_and_quotes_what_states_the_claim() -> None:
    asked = [
        candidate("Then Ada Lovelace maintains billing."),
        candidate("Ada Lovelace does not maintain billing."),
        candidate("It rained."),
        candidate(None),
    ]
    verdicts = first_stage.first_verdicts(asked, EMPTY, weights=DEFAULT, accept_at=0.7, reject_below=0.3)
    assert [verdict.quote for verdict in verdicts] == [
        "Then Ada Lovelace maintains billing.",
        None,
        None,
        None,
    ]
    for verdict, words in zip(
        verdicts, ("a sentence names both", "denies it", "no passage names", "neither a passage"), strict=True
    ):
        assert words in verdict.explanation
        assert verdict.explanation.endswith(".")
    assert {verdict.verifier for verdict in verdicts} == {f"srmkg:{DEFAULT.version}"}


@pytest.mark.parametrize(
    ("text", "quoted"),
    [
        ("Ada Lovelace maintains billing.", True),
        ("Ada Lovelace maintains the old regional billing.", True),
        ("Ada Lovelace maintains what others once wrote for billing.", False),
        ("Ada Lovelace met the people of billing.", False),
        ("Ada Lovelace maintains the tools. She uses billing.", False),
    ],
)
def test_only_a_sentence_that_says_the_type_near_the_object_is_quoted(text: str, quoted: bool) -> None:
    (verdict,) = first_stage.first_verdicts(
        [candidate(text)], EMPTY, weights=DEFAULT, accept_at=0.7, reject_below=0.3
    )
    assert verdict.quote == (text if quoted else None)


def test_names_with_braces_are_not_filled_in() -> None:
    odd = entity("{subject} {0} %s")
    (verdict,) = first_stage.first_verdicts(
        [candidate("It rained.", object=odd)], EMPTY, weights=DEFAULT, accept_at=0.7, reject_below=0.3
    )
    assert "{subject} {0} %s" in verdict.explanation


@given(st.integers(0, 2**32 - 1))
def test_probabilities_are_probabilities(seed: int) -> None:
    rows = np.random.default_rng(seed).normal(scale=100, size=(5, len(first_stage.NAMES)))
    chances = first_stage.probabilities(rows, DEFAULT)
    assert ((chances >= 0) & (chances <= 1)).all()
