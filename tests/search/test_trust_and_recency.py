from datetime import timedelta

import pytest

from hydramem.core.config import SearchConfig
from hydramem.core.row_types import Times
from hydramem.search.fusion import Fused, RecallCandidate, trusted
from hydramem.text.dates.dates_in_text import dates_in
from tests.graph.graphs import THEN, chunk

OLD = Times(recorded_at=THEN - timedelta(days=30))


def found(id: str, score: float, **values: object) -> RecallCandidate:
    return RecallCandidate(chunk=chunk(id, **values), fused=Fused(id=id, score=score, parts={"text": score}))


def test_trust_lifts_by_layer_and_is_shown() -> None:
    both = [found("told", 0.5), found("known", 0.45, layer="verified")]
    first, second = trusted(both, THEN, SearchConfig())
    assert (first.chunk.id, second.chunk.id) == ("known", "told")
    assert first.fused.parts == pytest.approx({"text": 0.45, "layer": 0.135})
    assert [one.chunk.id for one in trusted(both, THEN, SearchConfig(layer_weight=0.0))] == ["told", "known"]


def test_age_halves_what_newness_gives() -> None:
    settings = SearchConfig(recency_weight=0.5)
    both = [found("old", 0.5, times=OLD), found("new", 0.5)]
    new, old = trusted(both, THEN, settings)
    assert new.fused.parts["recency"] == pytest.approx(0.25)
    assert old.fused.parts["recency"] == pytest.approx(0.125)
    assert all("recency" not in one.fused.parts for one in trusted(both, THEN, SearchConfig()))


def test_importance_counts_where_configured() -> None:
    both = [found("minor", 0.5, importance=0.1), found("major", 0.5, importance=0.9)]
    first, second = trusted(both, THEN, SearchConfig(importance_weight=1.0))
    assert first.chunk.id == "major" and second.fused.parts["importance"] < 0
    assert trusted((), None, SearchConfig()) == ()


def test_what_is_of_a_day_that_the_query_names_gains() -> None:
    later = THEN + timedelta(days=40)
    both = [
        found("later", 0.5, happened_at=later),
        found("then", 0.4, happened_at=THEN),
        found("undated", 0.3),
    ]
    dates = dates_in(f"on {THEN:%B %d, %Y}", None)
    first, *others = trusted(both, THEN, SearchConfig(), dates)
    assert first.chunk.id == "then" and first.fused.parts["date"] == pytest.approx(0.2)
    assert all("date" not in one.fused.parts for one in others)
    assert trusted(both, THEN, SearchConfig(date_weight=0.0), dates)[0].chunk.id == "later"
