"""The weights as a value, and what is learned of a graph as long as it lasts."""

import json
from itertools import pairwise

import pytest

from hydramem.core.errors import InvalidInputError
from hydramem.graph.snapshot.snapshot_writer import SnapshotWriter
from hydramem.verification.first_stage import first_stage
from hydramem.verification.first_stage.similar_entities import learned, prepare
from hydramem.verification.first_stage.weights import DEFAULT, Weights
from tests.graph.graphs import P, entity, relation, tables, write


def test_weights_are_read_as_written() -> None:
    assert Weights.from_json(DEFAULT.to_json()) == DEFAULT
    assert set(DEFAULT.names) == set(first_stage.NAMES)
    assert DEFAULT.for_names(["jaccard", "unknown"])[1] == 0


def test_an_intercept_is_kept_and_none_where_none_is_given() -> None:
    plain = Weights(version="1", names=("a",), coefficients=(2.0,))
    assert plain.intercept == 0
    shifted = Weights(version="1", names=("a",), coefficients=(2.0,), intercept=-1.5)
    assert Weights.from_json(shifted.to_json()) == shifted


@pytest.mark.parametrize(
    "text",
    [
        *("", "[]", "{}", '{"version": 1}'),
        json.dumps({"version": "1", "names": ["a"], "coefficients": [], "intercept": 0}),
        '{"version": "1", "names": ["a"], "coefficients": [NaN], "intercept": 0}',
        json.dumps({"version": "1", "names": ["a"], "coefficients": ["x"], "intercept": 0}),
    ],
)
def test_what_is_no_weights_is_an_error(text: str) -> None:
    with pytest.raises(InvalidInputError, match="weights of verification"):
        Weights.from_json(text)


def test_a_small_graph_is_learned_at_once_and_a_large_one_after_it_grew() -> None:
    def chain(begin: int, end: int) -> list[object]:
        names = [entity(f"e{number}") for number in range(begin, end)]
        joined = [relation(one, "next", other) for one, other in pairwise(names)]
        return [*names, *joined]

    growing = SnapshotWriter(P, *tables(*chain(0, 100)))
    prepare(growing.snapshot())
    assert len(learned(growing.snapshot()).facts.subject) == 99
    growing.apply(write(*chain(100, 102)))
    assert len(learned(growing.snapshot()).facts.subject) == 100
    growing.apply(write(*chain(200, 1300)))
    prepare(growing.snapshot())
    growing.apply(write(*chain(1300, 1310)))
    known = learned(growing.snapshot())
    assert len(known.facts.subject) == 1199, "learned ahead"
    growing.apply(write(*chain(2000, 2050)))
    assert learned(growing.snapshot()) is known
    growing.apply(write(*chain(3000, 3100)))
    assert learned(growing.snapshot()) is not known


@pytest.mark.parametrize(("before", "added", "kept"), [(999, 1, False), (1000, 1, True), (1001, 1, True)])
def test_only_what_more_than_a_thousand_relations_teach_is_kept(before: int, added: int, kept: bool) -> None:
    names = [entity(f"e{number}") for number in range(before + added + 1)]
    joined = [relation(one, "next", other) for one, other in pairwise(names)]
    growing = SnapshotWriter(P, *tables(*names, *joined[:before]))
    prepare(growing.snapshot())
    known = learned(growing.snapshot())
    assert (learned(growing.snapshot()) is known) is (before > 1000)
    growing.apply(write(*joined[before:]))
    again = learned(growing.snapshot())
    assert len(again.facts.subject) == before + (0 if kept else added)


@pytest.mark.parametrize(("added", "kept"), [(110, True), (111, False)])
def test_what_is_kept_serves_until_the_graph_grew_by_a_tenth(added: int, kept: bool) -> None:
    names = [entity(f"e{number}") for number in range(1100 + added + 1)]
    joined = [relation(one, "next", other) for one, other in pairwise(names)]
    growing = SnapshotWriter(P, *tables(*names, *joined[:1100]))
    known = learned(growing.snapshot())
    growing.apply(write(*joined[1100:]))
    assert (learned(growing.snapshot()) is known) is kept
