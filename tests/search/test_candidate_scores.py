"""What the scores of candidates mean: fusion of arms, and what layer, day, age and importance add."""

from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hydramem.core.config import SearchConfig
from hydramem.core.results.graph_views import PathStep
from hydramem.core.row_types import Times
from hydramem.search.candidate_scores import (
    ArmScores,
    FusedScore,
    GraphPath,
    blended,
    freshness,
    fuse,
    layer_gain,
    normalised,
    ranked,
    statement,
    trusted,
)
from hydramem.text.dates.dates_in_text import dates_in
from tests.examples import FEW
from tests.graph.graphs import THEN, chunk
from tests.search.candidates import candidate

ids = st.sampled_from("abcdefgh")
shares = st.dictionaries(ids, st.floats(0, 1))
arms = st.lists(
    st.builds(
        ArmScores, name=st.sampled_from(["vector", "text", "other"]), weight=st.floats(0, 3), scores=shares
    ),
    max_size=3,
    unique_by=lambda arm: arm.name,
)


def order(found: tuple[FusedScore, ...]) -> list[str]:
    return [one.id for one in found]


@FEW
@given(arms, st.randoms())
def test_the_order_of_arms_does_not_matter(given_arms, random) -> None:
    shuffled = list(given_arms)
    random.shuffle(shuffled)
    assert fuse(given_arms) == fuse(shuffled)


@FEW
@given(arms, shares, st.floats(0, 2))
def test_parts_add_up_and_scores_stay_within_one(given_arms, walked, share: float) -> None:
    for found in (
        fuse(given_arms),
        blended(fuse(given_arms), ArmScores(name="graph", weight=share, scores=walked)),
    ):
        for one in found:
            assert one.score == pytest.approx(sum(one.parts.values()))
            assert -1e-9 <= one.score <= 1 + 1e-9
        assert [one.score for one in found] == sorted((one.score for one in found), reverse=True)


def test_best_in_every_arm_is_one_and_ties_go_by_id() -> None:
    found = fuse(
        [
            ArmScores(name="vector", weight=0.5, scores={"b": 1.0, "a": 1.0}),
            ArmScores(name="text", weight=2.0, scores={"a": 1.0, "b": 1.0, "c": 0.5}),
        ]
    )
    assert order(found) == ["a", "b", "c"]
    assert found[0].score == pytest.approx(1)


def test_an_arm_without_weight_finds_nothing() -> None:
    idle = ArmScores(name="text", weight=0.0, scores={"a": 1.0, "b": 0.5}, unseen=frozenset("c"))
    assert fuse([idle]) == ()
    heard = ArmScores(name="vector", weight=2.0, scores={"c": 1.0})
    assert fuse([idle, heard]) == (FusedScore(id="c", score=1.0, parts={"vector": 1.0}),)


seen = st.builds(
    ArmScores,
    name=st.sampled_from(["vector", "text", "other"]),
    weight=st.floats(0.1, 3),
    scores=shares,
    unseen=st.frozensets(ids, max_size=3),
)


@FEW
@given(st.lists(seen, max_size=3, unique_by=lambda arm: arm.name))
def test_a_score_is_the_mean_over_the_arms_that_could_find_it(given_arms: list[ArmScores]) -> None:
    given_arms = [
        ArmScores(
            name=arm.name,
            weight=arm.weight,
            scores={id: score for id, score in arm.scores.items() if id not in arm.unseen},
            unseen=arm.unseen,
        )
        for arm in given_arms
    ]
    expected = {}
    for id in {id for arm in given_arms for id in arm.scores}:
        able = [arm for arm in given_arms if id not in arm.unseen]
        total = sum(arm.weight for arm in able)
        expected[id] = sum(arm.weight * arm.scores.get(id, 0.0) for arm in able) / total
    assert {one.id: one.score for one in fuse(given_arms)} == pytest.approx(expected)


def test_a_best_above_one_scales_all_down() -> None:
    found = ranked({"a": {"text": 0.5}, "b": {"text": 1.0, "layer": 1.0}, "c": {}})
    assert [(one.id, one.score, one.parts) for one in found] == [
        ("b", 1.0, {"text": 0.5, "layer": 0.5}),
        ("a", 0.25, {"text": 0.25}),
        ("c", 0.0, {}),
    ]
    assert ranked({}) == ()
    assert ranked({"a": {"text": 0.25}})[0].score == 0.25


@pytest.mark.parametrize(
    ("weight", "scores"),
    [
        (0.25, {"a": 0.6, "b": 0.375, "c": 0.25}),
        (0.5, {"a": 0.4, "b": 0.25, "c": 0.5}),
        (1.0, {"c": 1.0, "a": 0.0, "b": 0.0}),
        (5.0, {"c": 1.0, "a": 0.0, "b": 0.0}),
    ],
)
def test_an_arm_that_is_mixed_in_takes_its_share(weight: float, scores: dict[str, float]) -> None:
    found = ranked({"a": {"text": 0.8}, "b": {"text": 0.5}})
    mixed = blended(found, ArmScores(name="graph", weight=weight, scores={"c": 1.0}))
    assert {one.id: one.score for one in mixed} == pytest.approx(scores)
    assert order(mixed) == sorted(scores, key=lambda id: (-scores[id], id))


@FEW
@given(st.dictionaries(ids, st.floats(-5, 5), min_size=1))
def test_normalised_keeps_order_and_fills_the_range(scores: dict[str, float]) -> None:
    stretched = normalised(scores)
    assert max(stretched.values()) == pytest.approx(1)
    assert all(0 <= value <= 1 for value in stretched.values())
    assert all(
        stretched[one] <= stretched[other]
        for one in scores
        for other in scores
        if scores[one] <= scores[other]
    )


def test_normalised_edges() -> None:
    assert normalised({}) == {}
    assert normalised({"a": 3.0}) == {"a": 1.0}
    assert normalised({"a": 4.0, "b": 1.0}, floor=0.0) == {"a": 1.0, "b": 0.25}
    assert normalised({"a": 0.75, "b": 0.5, "c": 0.25}) == {"a": 1.0, "b": 0.5, "c": 0.0}
    assert normalised({"a": 3.0}, floor=3.0) == {"a": 1.0}


def test_a_share_of_nothing_changes_nothing() -> None:
    found = ranked({"a": {"text": 0.5}})
    assert blended(found, ArmScores(name="graph", weight=0.0, scores={"b": 1.0})) == found
    assert blended(found, ArmScores(name="graph", weight=0.9, scores={})) == found
    assert order(blended(found, ArmScores(name="graph", weight=0.9, scores={"b": 1.0}))) == ["b", "a"]


OLD = Times(recorded_at=THEN - timedelta(days=30))


def test_trust_lifts_by_layer_and_is_shown() -> None:
    both = [candidate(chunk("told"), 0.5), candidate(chunk("known", layer="verified"), 0.45)]
    first, second = trusted(both, THEN, SearchConfig())
    assert (first.chunk.id, second.chunk.id) == ("known", "told")
    assert first.fused.parts == pytest.approx({"text": 0.45, "layer": 0.135})
    assert [one.chunk.id for one in trusted(both, THEN, SearchConfig(layer_weight=0.0))] == ["told", "known"]


def test_age_halves_what_newness_gives() -> None:
    settings = SearchConfig(recency_weight=0.5)
    both = [candidate(chunk("old", times=OLD), 0.5), candidate(chunk("new"), 0.5)]
    new, old = trusted(both, THEN, settings)
    assert new.fused.parts["recency"] == pytest.approx(0.25)
    assert old.fused.parts["recency"] == pytest.approx(0.125)
    assert all("recency" not in one.fused.parts for one in trusted(both, THEN, SearchConfig()))
    slower = trusted(both, THEN, replace(settings, recency_days=60.0))
    assert slower[1].fused.parts["recency"] == pytest.approx(0.25 * 0.5**0.5)


def test_what_is_of_a_day_that_the_query_names_gains() -> None:
    later = THEN + timedelta(days=40)
    both = [
        candidate(chunk("later", happened_at=later), 0.5),
        candidate(chunk("then", happened_at=THEN), 0.4),
        candidate(chunk("undated"), 0.3),
    ]
    dates = dates_in(f"on {THEN:%B %d, %Y}", None)
    first, *others = trusted(both, THEN, SearchConfig(), dates)
    assert first.chunk.id == "then" and first.fused.parts["date"] == pytest.approx(0.2)
    assert all("date" not in one.fused.parts for one in others)
    assert trusted(both, THEN, SearchConfig(date_weight=0.0), dates)[0].chunk.id == "later"


@pytest.mark.parametrize(("layer", "gain"), [("working", None), ("shared", 0.15), ("verified", 0.3)])
def test_each_layer_has_its_gain(layer: str, gain: float | None) -> None:
    (one,) = trusted([candidate(chunk("a", layer=layer), 0.5)], None, SearchConfig(layer_weight=1.0))
    assert one.fused.parts.get("layer") == (None if gain is None else pytest.approx(0.5 * gain))
    assert layer_gain(one.chunk) == (gain or 0.0)


@pytest.mark.parametrize(("days", "fresh"), [(-5, 1.0), (0, 1.0), (15, 0.5**0.5), (30, 0.5), (90, 0.125)])
def test_freshness_halves_every_thirty_days(days: int, fresh: float) -> None:
    then = THEN - timedelta(days=days)
    assert freshness(chunk("a", times=Times(recorded_at=then)), THEN) == pytest.approx(fresh)
    late = Times(recorded_at=THEN - timedelta(days=300))
    assert freshness(chunk("a", times=late, happened_at=then), THEN) == pytest.approx(fresh)
    assert freshness(chunk("a", times=late, happened_at=then), None) == 0


@pytest.mark.parametrize(("half_life", "fresh"), [(15.0, 0.25), (60.0, 0.5**0.5), (0.0, 0.0)])
def test_freshness_halves_after_each_half_life(half_life: float, fresh: float) -> None:
    assert freshness(chunk("a", times=OLD), THEN, half_life) == pytest.approx(fresh)


@pytest.mark.parametrize(("importance", "gain"), [(0.5, None), (1.0, 0.25), (0.25, -0.125)])
def test_only_importance_that_differs_from_the_middle_counts(importance: float, gain: float | None) -> None:
    (one,) = trusted(
        [candidate(chunk("a", importance=importance), 0.5)], None, SearchConfig(importance_weight=1.0)
    )
    assert one.fused.parts.get("importance") == gain
    assert trusted((), None, SearchConfig()) == ()


def test_one_day_of_several_that_are_named_is_enough() -> None:
    dates = dates_in(f"on {THEN - timedelta(days=90):%B %d, %Y} or on {THEN:%B %d, %Y}", None)
    assert len(dates) == 2
    (one,) = trusted(
        [candidate(chunk("a", happened_at=THEN), 0.5)], None, SearchConfig(date_weight=1.0), dates
    )
    assert one.fused.parts["date"] == pytest.approx(0.5)


LINK = PathStep(source="b.txt", label="extends", target="a.txt")


@pytest.mark.parametrize(
    ("path", "by_link"),
    [
        (None, False),
        (GraphPath(steps=(LINK,), chunks=("b",)), True),
        (GraphPath(steps=(LINK,), chunks=()), False),
        (GraphPath(steps=(LINK, LINK), chunks=("b",)), False),
        (GraphPath(steps=(), chunks=("b",)), False),
    ],
)
def test_one_step_from_another_match_is_a_link(path: GraphPath | None, by_link: bool) -> None:
    one = replace(candidate(chunk("a"), 0.5), path=path)
    assert one.by_link is by_link
    assert (one.context, one.moved_from) == ("", None)


@pytest.mark.parametrize(
    "other",
    [
        {"text": "Ada leads sales."},
        {"author": "Grace"},
        {"happened_at": THEN},
        {"times": Times(recorded_at=THEN, valid_from=THEN)},
        {"times": Times(recorded_at=THEN, valid_to=THEN)},
    ],
)
def test_the_same_words_state_the_same_only_of_one_speaker_and_time(other: dict[str, object]) -> None:
    one = chunk("a", "Ada leads billing.", author="Ada")
    again = replace(one, id="b", project="elsewhere", source="elsewhere.txt", text=" Ada leads\nbilling ")
    assert statement(again) == statement(one)
    assert statement(replace(one, **other)) != statement(one)
