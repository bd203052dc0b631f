import numpy as np

from hydramem.core.types import Candidate
from hydramem.graph.growing import load
from hydramem.verification import srmkg
from hydramem.verification.weights import DEFAULT
from tests.graph.graphs import P, chunk, entity, relation, tables

ADA, BILLING, MYSQL = entity("Ada Lovelace"), entity("billing"), entity("MySQL")
EMPTY = load(P, *tables())


def candidate(text: str | None, type: str = "maintains", subject=ADA, object=BILLING) -> Candidate:
    passages = () if text is None else (chunk("c", text),)
    return Candidate(
        relation=relation(subject, type, object), subject=subject, object=object, passages=passages
    )


def scores(*candidates: Candidate, snapshot=EMPTY) -> list[float]:
    verdicts = srmkg.judge(candidates, snapshot, weights=DEFAULT, accept_at=0.7, reject_below=0.3)
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
    assert srmkg.judge([], EMPTY, weights=DEFAULT, accept_at=0.7, reject_below=0.3) == ()
    assert srmkg.features([], EMPTY).shape == (0, len(srmkg.NAMES))


def test_similarity_may_be_missing() -> None:
    both = [candidate("Ada Lovelace maintains billing."), candidate(None)]
    found = srmkg.features(both, EMPTY, similarity=np.array([0.8, np.nan]))
    column = srmkg.NAMES.index("embedding")
    assert found[:, column].tolist() == [1.0, 0.0]
    assert np.isfinite(found).all()
