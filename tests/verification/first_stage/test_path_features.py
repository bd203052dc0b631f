"""Paths between the ends of a claim, and what they say of it, against a plain search on tiny graphs."""

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from hydramem.verification.first_stage import path_features
from hydramem.verification.first_stage.path_features import Between, Rules
from hydramem.verification.first_stage.relation_arrays import Claims, Counted, Facts, from_triples
from tests.verification.first_stage.triples import EVERY, TYPES, Triple, claims, facts, large_graph, of_graphs

LABELS = 2 * (TYPES + 1)


def paths_of(laid: Facts, asked: Claims) -> Between:
    return path_features.between(laid, asked, path_features.common(laid, asked.subject, asked.object))


def paths_by_search(known: list[Triple], asked: Triple) -> set[int]:
    """Return the numbers of the paths of one or two edges between the ends of a claim, but the claim."""
    subject, type, object = asked
    steps = [(one, type * 2, other) for one, type, other in known]
    steps += [(other, type * 2 + 1, one) for one, type, other in known]
    one = {label for start, label, end in steps if (start, end) == (subject, object)} - {type * 2}
    two = {
        LABELS + first * LABELS + second
        for start, first, between in steps
        for middle, second, end in steps
        if start == subject and between == middle and end == object and middle not in (subject, object)
    }
    return one | (two or {LABELS + LABELS * LABELS})


@of_graphs(8)
def test_paths_between_two_ends_are_those_of_a_plain_search(known: list[Triple]) -> None:
    found = paths_of(facts(known), claims(EVERY))
    expected = [(claim, path) for claim, asked in enumerate(EVERY) for path in paths_by_search(known, asked)]
    assert list(zip(found.claim.tolist(), found.path.tolist(), strict=True)) == sorted(expected)


@pytest.mark.parametrize("every", [False, True])
@of_graphs(6)
def test_what_paths_say_is_how_much_oftener_they_join_ends_of_the_type(
    every: bool, known: list[Triple]
) -> None:
    laid, asked = facts(known), claims(EVERY)
    rules = replace(path_features.learn(laid), every=every)
    found = path_features.evidence(laid, rules, asked, paths_of(laid, asked))
    holds, shuffled = (
        dict(zip(each.keys.tolist(), each.counts.tolist(), strict=True))
        for each in (rules.holds, rules.shuffled)
    )
    for claim, row in zip(EVERY, found, strict=True):
        own = int(claim in known and every)
        scale = (rules.held[claim[1]] - own) / max(rules.tried[claim[1]], 1)
        weights = []
        for path in paths_by_search(known, claim):
            key = path * laid.types + claim[1]
            held = max(holds.get(key, 0) - own, 0)
            weights.append(np.clip(np.log((held + 1) / (shuffled.get(key, 0) * scale + 1)), -5, 5))
        expected = [sum(weights), max(weights), min(weights), sum(weights) / np.sqrt(len(weights))]
        assert row == pytest.approx(expected)


def test_where_nothing_is_tried_the_scale_is_what_holds() -> None:
    laid, asked = facts([(0, 0, 1), (0, 1, 1)]), claims([(0, 0, 1)])
    paths = paths_of(laid, asked)
    once = Counted(keys=np.sort(paths.path * laid.types), counts=np.full(len(paths.path), 3))
    rules = Rules(holds=once, shuffled=once, held=np.full(4, 2), tried=np.zeros(4, np.int64), every=False)
    found = path_features.evidence(laid, rules, asked, paths)[0]
    assert found[1] == pytest.approx(np.log((3 + 1) / (3 * 2 + 1)))


def test_a_claim_without_paths_has_zeros() -> None:
    laid = facts([(0, 0, 1), (0, 1, 1)])
    nothing = Between(claim=np.array([1]), path=np.array([2]))
    found = path_features.evidence(
        laid, path_features.learn(laid), claims([(0, 0, 2), (0, 0, 1), (3, 0, 4)]), nothing
    )
    assert not found[[0, 2]].any()
    assert found[1, 0] == found[1, 1] == found[1, 2] == found[1, 3]


@of_graphs(6)
def test_what_is_learned_of_paths_is_counted_over_all_triples(known: list[Triple]) -> None:
    laid = facts(known)
    rules = path_features.learn(laid)
    assert rules.every
    assert rules.held.tolist() == [sum(triple[1] == type for triple in known) for type in range(TYPES + 1)]
    expected = Counter(
        path * laid.types + triple[1] for triple in known for path in paths_by_search(known, triple)
    )
    assert dict(zip(rules.holds.keys.tolist(), rules.holds.counts.tolist(), strict=True)) == expected
    # Each triple gets another end once a side; what is a triple or joins a node to itself is left out.
    assert (rules.tried <= 2 * rules.held).all()


def test_of_an_empty_graph_nothing_is_learned() -> None:
    rules = path_features.learn(facts([]))
    assert (rules.every, rules.held.sum(), rules.tried.sum()) == (True, 0, 0)
    assert not len(rules.holds.keys) and not len(rules.shuffled.keys)


def test_shuffled_ends_are_those_of_the_type_and_no_triples() -> None:
    # Of type 0 each subject is below 30 and each object from 30 on; of type 1 the other way round.
    draw = np.random.default_rng(1)
    known = [(int(one), 0, int(other)) for one, other in draw.integers((0, 30), (30, 60), (150, 2))]
    known += [(int(other), 1, int(one)) for one, other in draw.integers((0, 30), (30, 60), (50, 2))]
    laid = from_triples(*np.array(known).T, types=3, kind=np.arange(60) % 4, kinds=5)
    held = laid.claims(laid.subject, laid.type, laid.object)
    tried = path_features._shuffled(laid, held)
    assert not laid.stored(tried).any()
    assert ((tried.subject < 30) == (tried.type == 0)).all()
    assert ((tried.object < 30) == (tried.type == 1)).all()
    assert tried.subject_kind.tolist() == (tried.subject % 4).tolist()
    assert tried.object_kind.tolist() == (tried.object % 4).tolist()
    # One end is kept: the first half has other subjects, the second other objects.
    pairs = {(type, end) for type, end in zip(laid.type.tolist(), laid.object.tolist(), strict=True)}
    assert {
        (type, end) for type, end in zip(tried.type.tolist(), tried.object.tolist(), strict=True)
    } <= pairs
    assert len(tried.subject) > 1.4 * len(laid.subject)
    # The ends are drawn from all that the type has, not from some of them.
    assert len(set(tried.subject[tried.type == 0].tolist())) == 30
    assert len(set(tried.object[tried.type == 0].tolist())) == 30
    assert len(set(tried.subject[tried.type == 1].tolist())) > 20


def test_what_joins_a_node_to_itself_is_not_tried() -> None:
    known = [(node, 0, (node + 1) % 30) for node in range(30)]
    laid = large_graph(30, known)
    tried = path_features._shuffled(laid, laid.claims(laid.subject, laid.type, laid.object))
    assert (tried.subject != tried.object).all()
    assert len(tried.subject) > 40


def test_a_path_says_no_more_than_a_bound() -> None:
    laid, one = facts([(0, 0, 1), (0, 1, 1)]), claims([(0, 0, 1)])
    paths = paths_of(laid, one)
    often = Counted(keys=np.sort(paths.path * laid.types), counts=np.full(len(paths.path), 10**6))
    never = Counted(keys=np.zeros(0, np.int64), counts=np.zeros(0, np.int64))
    rules = Rules(holds=often, shuffled=never, held=np.full(4, 10), tried=np.full(4, 10), every=False)
    assert path_features.evidence(laid, rules, one, paths)[0].tolist()[1:3] == [5, 5]
    rules = replace(rules, holds=never, shuffled=often)
    assert path_features.evidence(laid, rules, one, paths)[0].tolist()[1:3] == [-5, -5]


@pytest.mark.parametrize(("shared", "found"), [(255, 255), (256, 256), (300, 256)])
def test_of_a_hub_some_neighbours_are_looked_at(shared: int, found: int) -> None:
    laid = large_graph(2 + shared, [(hub, 0, 2 + node) for hub in (0, 1) for node in range(shared)])
    assert len(path_features.common(laid, np.array([0]), np.array([1])).node) == found


@pytest.mark.parametrize("subject", [0, 1])
def test_the_end_with_fewer_neighbours_is_looked_from(subject: int) -> None:
    # Node 0 has too many neighbours; the only one that 1 has is the last of them.
    known = [(0, 0, 2 + node) for node in range(300)] + [(1, 0, 301)]
    laid = large_graph(302, known)
    found = path_features.common(laid, np.array([subject]), np.array([1 - subject]))
    assert found.node.tolist() == [301]


@pytest.mark.parametrize(("total", "looked_at"), [(50_000, 50_000), (50_001, 25_001), (100_001, 33_334)])
def test_of_many_triples_an_even_sample_is_learned_from(total: int, looked_at: int) -> None:
    laid = large_graph(total + 1, [(node, 0, node + 1) for node in range(total)])
    rules = path_features.learn(laid)
    assert (rules.held.sum(), rules.every) == (looked_at, looked_at == total)
