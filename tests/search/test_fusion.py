import pytest
from hypothesis import given
from hypothesis import strategies as st

from hydramem.search.fusion import Arm, Fused, blended, fuse, normalised, ranked

ids = st.sampled_from("abcdefgh")
shares = st.dictionaries(ids, st.floats(0, 1))
arms = st.lists(
    st.builds(Arm, name=st.sampled_from(["vector", "text", "other"]), weight=st.floats(0, 3), scores=shares),
    max_size=3,
    unique_by=lambda arm: arm.name,
)


def order(found: tuple[Fused, ...]) -> list[str]:
    return [one.id for one in found]


@given(arms, st.randoms())
def test_the_order_of_arms_does_not_matter(given_arms, random) -> None:
    shuffled = list(given_arms)
    random.shuffle(shuffled)
    assert fuse(given_arms) == fuse(shuffled)


@given(arms, shares, st.floats(0, 2))
def test_parts_add_up_and_scores_stay_within_one(given_arms, walked, share: float) -> None:
    for found in (
        fuse(given_arms),
        blended(fuse(given_arms), Arm(name="graph", weight=share, scores=walked)),
    ):
        for one in found:
            assert one.score == pytest.approx(sum(one.parts.values()))
            assert -1e-9 <= one.score <= 1 + 1e-9
        assert [one.score for one in found] == sorted((one.score for one in found), reverse=True)


def test_best_in_every_arm_is_one_and_ties_go_by_id() -> None:
    found = fuse(
        [
            Arm(name="vector", weight=0.5, scores={"b": 1.0, "a": 1.0}),
            Arm(name="text", weight=2.0, scores={"a": 1.0, "b": 1.0, "c": 0.5}),
        ]
    )
    assert order(found) == ["a", "b", "c"]
    assert found[0].score == pytest.approx(1)


@given(shares, st.floats(0.1, 3))
def test_what_an_arm_cannot_see_is_judged_by_the_others_alone(
    scores: dict[str, float], weight: float
) -> None:
    blind = Arm(name="vector", weight=weight, scores={}, unseen=frozenset(scores))
    text = Arm(name="text", weight=1.0, scores=scores)
    assert {one.id: pytest.approx(one.score) for one in fuse([blind, text])} == scores


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


def test_a_share_of_nothing_changes_nothing() -> None:
    found = ranked({"a": {"text": 0.5}})
    assert blended(found, Arm(name="graph", weight=0.0, scores={"b": 1.0})) == found
    assert blended(found, Arm(name="graph", weight=0.9, scores={})) == found
    assert order(blended(found, Arm(name="graph", weight=0.9, scores={"b": 1.0}))) == ["b", "a"]
