"""The weights of one call: they replace the configured ones, and a wrong one is named."""

import pytest

import hydramem
from hydramem.core.config import SearchConfig
from hydramem.core.errors import InvalidInputError
from hydramem.search.arms.arm_weights import with_arms


def test_an_arm_that_is_not_named_keeps_its_weight() -> None:
    settings = SearchConfig()
    assert with_arms(settings, None) is settings
    changed = with_arms(settings, {"vector": 2, "graph": 0})
    weights = (changed.vector_weight, changed.text_weight, changed.graph_weight)
    assert weights == (2.0, settings.text_weight, 0.0)


@pytest.mark.parametrize(
    ("arms", "named"),
    [
        ({"vectors": 1}, "vectors"),
        ({"text": -1}, r"arms\.text"),
        ({"text": float("nan")}, r"arms\.text"),
        ({"text": True}, r"arms\.text"),
        ({"graph": 1.5}, r"arms\.graph"),
        ({"vector": 0, "text": 0}, "both 0"),
        ([("text", 1)], "list"),
    ],
)
def test_a_wrong_weight_is_named(arms: object, named: str) -> None:
    with pytest.raises(InvalidInputError, match=named):
        with_arms(SearchConfig(), arms)  # type: ignore[arg-type]


def test_an_arm_of_weight_zero_adds_nothing_to_a_hit(memory: hydramem.Memory) -> None:
    memory.remember("Ada Lovelace leads Kestrel.")
    (hit,) = memory.recall("Ada Lovelace Kestrel", arms={"vector": 0, "text": 1, "graph": 0}).hits
    assert "text" in hit.scores and not {"vector", "graph"} & hit.scores.keys()
    (hit,) = memory.recall("Ada Lovelace Kestrel", arms={"text": 0, "graph": 0.5}).hits
    assert {"vector", "graph"} <= hit.scores.keys() and "text" not in hit.scores


def test_a_memory_of_two_projects_is_one_hit_of_the_higher_layer(memory: hydramem.Memory) -> None:
    own = memory.remember("The spare key is in hall 3.", kind="fact").id
    theirs = memory.remember("The spare key is in hall 3.", kind="fact", project="theirs").id
    other = memory.remember("Grace Hopper keeps a key.", kind="fact", project="theirs").id
    first, second = memory.recall("spare key hall 3", also=["theirs"]).hits
    assert first.id in (own, theirs) and second.id == other
    memory.promote([theirs], layer="verified", reason="seen", project="theirs")
    found = memory.recall("spare key hall 3", also=["theirs"]).hits
    assert [(hit.id, hit.layer) for hit in found] == [(theirs, "verified"), (other, "working")]
    assert {hit.id for hit in memory.recall("spare key hall 3").hits} == {own}
