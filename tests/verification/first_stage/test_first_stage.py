from dataclasses import replace

import numpy as np
import pytest

from hydramem.core.row_types import Chunk, RelationCandidate, Verdict
from hydramem.graph.snapshot.snapshot import Snapshot
from hydramem.graph.snapshot.snapshot_writer import load
from hydramem.verification.first_stage import first_stage
from hydramem.verification.first_stage.relation_arrays import lay_out
from hydramem.verification.first_stage.weights import DEFAULT, Weights
from tests.graph.graphs import P, chunk, entity, relation, tables

ADA, BILLING, MYSQL = entity("Ada Lovelace"), entity("billing"), entity("MySQL")
EMPTY = load(P, *tables())
EVEN = Weights(version="even", names=("confidence",), coefficients=(0.0,))


def candidate(text: str | None, type: str = "maintains", subject=ADA, object=BILLING) -> RelationCandidate:
    passages = () if text is None else (chunk("c", text),)
    return RelationCandidate(
        relation=relation(subject, type, object), subject=subject, object=object, passages=passages
    )


def verdicts(
    *candidates: RelationCandidate, snapshot: Snapshot = EMPTY, weights: Weights = DEFAULT
) -> tuple[Verdict, ...]:
    return first_stage.first_verdicts(candidates, snapshot, weights=weights, accept_at=0.7, reject_below=0.3)


def scores(*candidates: RelationCandidate, snapshot: Snapshot = EMPTY) -> list[float]:
    return [verdict.score for verdict in verdicts(*candidates, snapshot=snapshot)]


def test_nothing_to_judge() -> None:
    assert verdicts() == ()
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
    found = verdicts(*asked)
    assert [verdict.quote for verdict in found] == ["Then Ada Lovelace maintains billing.", *[None] * 3]
    for verdict, words in zip(
        found, ("a sentence names both", "denies it", "no passage names", "neither a passage"), strict=True
    ):
        assert words in verdict.explanation
        assert verdict.explanation.endswith(".")
    assert {verdict.verifier for verdict in found} == {f"srmkg:{DEFAULT.version}"}


@pytest.mark.parametrize(
    ("text", "quoted"),
    [
        ("Ada Lovelace maintains billing.", True),
        ("Ada Lovelace maintains the old regional billing.", True),
        ("Ada Lovelace maintains what others once wrote for billing.", False),
        ("Ada Lovelace met the people of billing.", False),
        ("Ada Lovelace maintains the tools. She uses billing.", False),
        ("Somebody maintains billing.", False),
        ("Ada Lovelace never maintains billing.", False),
        ("Billing maintains Ada Lovelace.", False),
        ("Ada Lovelace maintains Payroll and hates billing.", False),
        ("Ada Lovelace sleeps. She maintains billing.", False),
    ],
)
def test_only_a_sentence_that_says_the_type_near_the_object_is_quoted(text: str, quoted: bool) -> None:
    (verdict,) = verdicts(candidate(text), weights=EVEN)
    assert verdict.quote == (text if quoted else None)


def test_names_with_braces_are_not_filled_in() -> None:
    odd = entity("{subject} {0} %s")
    (verdict,) = verdicts(candidate("It rained.", object=odd))
    assert "{subject} {0} %s" in verdict.explanation


def values(*candidates: RelationCandidate) -> list[dict[str, float]]:
    rows = first_stage.features(candidates, EMPTY)
    return [dict(zip(first_stage.NAMES, row, strict=True)) for row in rows.tolist()]


@pytest.mark.parametrize(
    ("type", "named"),
    [("maintains", 1), ("related_to", 0), ("Related To", 0), ("LINKS-TO", 0), ("is", 0), ("is_in", 1)],
)
def test_a_type_that_says_nothing_is_no_name(type: str, named: int) -> None:
    assert values(candidate(None, type))[0]["named"] == named


@pytest.mark.parametrize(
    ("passages", "sources"),
    [
        ((), 1),
        ((chunk("a"),), 1),
        ((chunk("a"), chunk("b")), 2),
        ((chunk("a", document="d"), chunk("b", document="d")), 1),
        ((chunk("a", session="s"), chunk("b", session="s")), 1),
        ((chunk("a", document="d"), chunk("b", session="s"), chunk("c")), 3),
    ],
)
def test_evidence_counts_sources_rather_than_passages(passages: tuple[Chunk, ...], sources: int) -> None:
    row = replace(candidate(None), passages=passages)
    assert values(row)[0]["evidence"] == pytest.approx(np.log(sources))
    assert len(first_stage.documents(row)) == (sources if passages else 0)


def test_candidates_are_found_in_a_graph_as_it_was_laid_out() -> None:
    rows = [ADA, BILLING, relation(ADA, "leads", BILLING), relation(BILLING, "uses", ADA)]
    before = load(P, *tables(*rows))
    later = relation(BILLING, "stores_in", MYSQL), relation(BILLING, "was_stored_in", MYSQL)
    after = load(P, *tables(*rows, MYSQL, *later))
    asked = [
        candidate(None, "leads"),
        candidate(None, "uses", BILLING, ADA),
        candidate(None, "stores_in", BILLING, MYSQL),
        candidate(None, "never_seen"),
        candidate(None, "was_stored_in", BILLING, MYSQL),
        candidate(None, "leads", entity("Nobody"), BILLING),
    ]
    facts = lay_out(before)
    found = first_stage.located(asked, after, facts)
    nodes = [after.node(each.id) for each in (ADA, BILLING)]
    assert found.subject.tolist() == [nodes[0], nodes[1], nodes[1], nodes[0], nodes[1], -1]
    assert found.object.tolist() == [nodes[1], nodes[0], -1, nodes[1], -1, nodes[1]]
    types = list(before.edges.types)
    leads, uses = types.index("leads"), types.index("uses")
    assert found.type.tolist() == [leads, uses, 2, 2, 2, leads]
    kind = facts.kind[nodes[0]]
    assert found.subject_kind.tolist() == [kind, kind, kind, kind, kind, -1]
    assert found.object_kind.tolist() == [kind, kind, -1, kind, -1, kind]
    laid_anew = first_stage.located(asked, after, lay_out(after))
    assert laid_anew.object[2] == after.node(MYSQL.id)
    assert laid_anew.type[2] == list(after.edges.types).index("stores_in")


def test_probabilities_are_those_of_the_logistic_model_and_never_certain() -> None:
    weights = Weights(version="x", names=("confidence", "evidence"), coefficients=(2.0, -1.0), intercept=0.5)
    rows = np.zeros((4, len(first_stage.NAMES)))
    rows[:, first_stage.NAMES.index("confidence")] = [0.0, 0.75, 1000.0, -1000.0]
    rows[1, first_stage.NAMES.index("evidence")] = 3.0
    found = first_stage.probabilities(rows, weights)
    logistic = [1 / (1 + np.exp(-odds)) for odds in (0.5, 0.5 + 1.5 - 3.0)]
    assert found[:2] == pytest.approx(logistic)
    assert found[3] == pytest.approx(np.exp(-30.0), rel=1e-6, abs=0)
    assert 1 - found[2] == pytest.approx(np.exp(-30.0), rel=0.01, abs=0)


@pytest.mark.parametrize(
    ("reject_below", "accept_at", "decision"),
    [
        (0.3, 0.7, "deferred"),
        (0.3, 0.5, "accepted"),
        (0.5, 0.7, "deferred"),
        (0.51, 0.7, "rejected"),
        (0.51, 0.5, "rejected"),
    ],
)
def test_bounds_decide(reject_below: float, accept_at: float, decision: str) -> None:
    bounds = {"accept_at": accept_at, "reject_below": reject_below}
    (verdict,) = first_stage.first_verdicts([candidate(None)], EMPTY, weights=EVEN, **bounds)
    assert (verdict.decision, verdict.score) == (decision, 0.5)
    assert (verdict.stage, verdict.verifier) == ("srmkg", "srmkg:even")


def test_a_verdict_tells_the_features_that_are_not_zero() -> None:
    row = replace(candidate(None), relation=relation(ADA, "maintains", BILLING, confidence=1 / 3))
    weights = Weights(version="x", names=("confidence",), coefficients=(1.0,))
    (verdict,) = verdicts(row, weights=weights)
    assert verdict.scores == {"confidence": 0.3333, "named": 1.0}
    assert verdict.score == 0.5826


def test_what_is_not_of_the_kind_that_the_type_takes_is_not_quoted() -> None:
    asked = [
        candidate("Ada Lovelace has the date of birth May.", "date of birth", object=entity("May")),
        candidate("Ada Lovelace was born on 3 May 1990.", "date of birth", object=entity("3 May 1990")),
    ]
    found = verdicts(*asked, weights=EVEN)
    assert [verdict.quote is not None for verdict in found] == [False, True]
