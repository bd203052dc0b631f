"""What the graph says of a claim, against plain counting on tiny graphs."""

from collections import Counter
from dataclasses import replace

import networkx as nx
import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from hydramem.verification.first_stage import graph_features, path_features, similar_entities
from hydramem.verification.first_stage.relation_arrays import Claims, Counted, Facts, from_triples
from hydramem.verification.first_stage.similar_entities import Learned

SIZE, TYPES, KINDS = 7, 3, 3
Triple = tuple[int, int, int]

triples = st.tuples(st.integers(0, SIZE - 1), st.integers(0, TYPES - 1), st.integers(0, SIZE - 1)).filter(
    lambda triple: triple[0] != triple[2]
)
graphs = st.lists(triples, min_size=1, max_size=25, unique=True)
KIND = np.arange(SIZE) % (KINDS - 1)


def facts(known: list[Triple]) -> Facts:
    subject, type, object = np.array(known, dtype=np.int64).reshape(-1, 3).T
    return from_triples(subject, type, object, types=TYPES + 1, kind=KIND, kinds=KINDS)


def learned(known: list[Triple]) -> Learned:
    laid = facts(known)
    return Learned(
        facts=laid,
        rules=path_features.learn(laid),
        profiles=similar_entities.profiles(laid),
        edges=len(known),
    )


def claims(*asked: Triple) -> Claims:
    subject, type, object = np.array(asked, dtype=np.int64).reshape(-1, 3).T
    return Claims(
        subject=subject, type=type, object=object, subject_kind=KIND[subject], object_kind=KIND[object]
    )


def features_of(known: list[Triple], *asked: Triple) -> list[dict[str, float]]:
    rows = graph_features.topology(learned(known), claims(*asked))
    return [dict(zip(graph_features.NAMES, row, strict=True)) for row in rows.tolist()]


# The claim is all that joins its ends, or not: random graphs hold the claim itself too seldom.
alone = example([(0, 0, 1)], (0, 0, 1))
beside_another_type = example([(0, 0, 1), (0, 1, 1)], (0, 0, 1))
one_end_alone = example([(0, 0, 1), (1, 1, 2), (3, 0, 4)], (0, 0, 1))
known_otherwise = example([(0, 0, 1), (0, 0, 2), (1, 0, 2), (3, 2, 1)], (0, 1, 1))
among_its_like = example([(0, 0, 1), (0, 0, 2), (3, 0, 1), (3, 0, 2), (4, 1, 1), (5, 0, 2)], (0, 0, 1))


def often_stored(test):
    """Ask for claims that the graph holds, besides random ones."""
    for each in (alone, beside_another_type, one_end_alone, known_otherwise, among_its_like):
        test = each(test)
    return test


@settings(max_examples=50)
@often_stored
@given(graphs, triples)
def test_neighbours_as_networkx_counts_them_without_the_claim(known: list[Triple], asked: Triple) -> None:
    (found,) = features_of(known, asked)
    graph = nx.Graph((one, other) for one, _, other in known)
    graph.add_nodes_from(range(SIZE))
    rest = [triple for triple in known if triple != asked]
    alone = sum(not any(end in (one, other) for one, _, other in rest) for end in (asked[0], asked[2]))
    assert found["isolated"] == alone
    assert found["topology"] == (alone == 0)
    if alone:
        return
    if graph.has_edge(asked[0], asked[2]):
        graph.remove_edge(asked[0], asked[2])
    ends = [(asked[0], asked[2])]
    assert found["jaccard"] == pytest.approx(next(nx.jaccard_coefficient(graph, ends))[2])
    assert found["adamic_adar"] == pytest.approx(next(nx.adamic_adar_index(graph, ends))[2])


@settings(max_examples=50)
@often_stored
@given(graphs, triples)
def test_priors_as_counted_by_hand_without_the_claim(known: list[Triple], asked: Triple) -> None:
    (found,) = features_of(known, asked)
    if not found["topology"]:
        return
    rest = [triple for triple in known if triple != asked]
    heads = sum(triple[:2] == asked[:2] for triple in rest)
    tails = sum(triple[1:] == asked[1:] for triple in rest)
    assert found["head_prior"] == pytest.approx(np.log1p(heads))
    assert found["tail_prior"] == pytest.approx(np.log1p(tails))
    assert (found["occupied"] > 0) == (heads > 0)
    assert (found["claimed"] > 0) == (tails > 0)

    of_type = {triple for triple in known if triple[1] == asked[1]}
    heads_of_type, tails_of_type = ({triple[end] for triple in of_type} for end in (0, 2))
    total = len(of_type - {asked})
    tail_share = np.log((tails + 0.5) / (total + 0.5 * max(len(tails_of_type), 1)))
    assert found["head_share"] == pytest.approx(
        np.log((heads + 0.5) / (total + 0.5 * max(len(heads_of_type), 1)))
    )
    assert found["tail_share"] == pytest.approx(tail_share)
    assert found["tail_rarity"] == pytest.approx(tail_share**2)
    assert found["occupied"] == pytest.approx((heads > 0) * len(heads_of_type) / max(len(of_type), 1))
    assert found["claimed"] == pytest.approx((tails > 0) * len(tails_of_type) / max(len(of_type), 1))

    share = sum(triple[1] == asked[1] for triple in rest) / max(len(rest), 1)
    leaving = sum(triple[0] == asked[0] for triple in rest) * share
    arriving = sum(triple[2] == asked[2] for triple in rest) * share
    assert found["head_lift"] == pytest.approx(np.log((heads + 0.5) / (leaving + 0.5)))
    assert found["tail_lift"] == pytest.approx(np.log((tails + 0.5) / (arriving + 0.5)))

    couple = (KIND[asked[0]], KIND[asked[2]])
    usual = Counter((KIND[one], KIND[other]) for one, _, other in rest)[couple] / max(len(rest), 1)
    of_type = [triple for triple in rest if triple[1] == asked[1]]
    here = sum((KIND[one], KIND[other]) == couple for one, _, other in of_type)
    assert found["signature"] == pytest.approx(np.log((here + 1) / (usual * len(of_type) + 1)))


def test_where_all_relations_are_of_one_type_no_end_is_oftener_at_a_side_of_it() -> None:
    known = [(0, 0, 2), (0, 0, 3), (1, 0, 2), (4, 0, 3)]
    (found,) = features_of(known, known[0])
    assert (found["head_lift"], found["tail_lift"]) == (0, 0)


@settings(max_examples=50)
@often_stored
@given(graphs, triples)
def test_likeness_as_the_cosine_of_edges_without_the_claim(known: list[Triple], asked: Triple) -> None:
    laid = facts(known)
    found = similar_entities.likeness(laid, similar_entities.profiles(laid), claims(asked))[0]
    often: Counter[tuple] = Counter()
    edges: dict[int, set[tuple]] = {node: set() for node in range(SIZE)}
    for one, type, other in known:
        for node, edge in ((one, (type, 0, other)), (other, (type, 1, one))):
            edges[node].add(edge)
            often[edge] += 1

    def cosine(node: int, other: int, left_out: tuple) -> float:
        def dot(one: set[tuple], two: set[tuple]) -> float:
            return sum(np.log1p(SIZE / often[edge]) ** 2 for edge in one & two)

        mine, yours = edges[node] - {left_out}, edges[other]
        return dot(mine, yours) / max(np.sqrt(dot(mine, mine) * dot(yours, yours)), 1e-9)

    subject, type, object = asked
    subjects = {one for one, kind, other in known if (kind, other) == (type, object)} - {subject}
    objects = {other for one, kind, other in known if (one, kind) == (subject, type)} - {object}
    assert found[0] == pytest.approx(
        max((cosine(subject, other, (type, 0, object)) for other in subjects), default=0)
    )
    assert found[1] == pytest.approx(
        max((cosine(object, other, (type, 1, subject)) for other in objects), default=0)
    )


@settings(max_examples=50)
@often_stored
@given(graphs, triples)
def test_paths_between_two_ends_are_those_of_a_plain_search(known: list[Triple], asked: Triple) -> None:
    laid = facts(known)
    found = path_features.between(
        laid,
        claims(asked),
        path_features.common(laid, *claims(asked).subject.reshape(1, 1), *claims(asked).object.reshape(1, 1)),
    )
    steps = [(one, type * 2, other) for one, type, other in known]
    steps += [(other, type * 2 + 1, one) for one, type, other in known]
    subject, type, object = asked
    labels = 2 * (TYPES + 1)
    one = {label for start, label, end in steps if (start, end) == (subject, object)} - {type * 2}
    two = {
        labels + first * labels + second
        for start, first, between in steps
        for middle, second, end in steps
        if start == subject and between == middle and end == object and middle not in (subject, object)
    }
    none = set() if two else {labels + labels * labels}
    assert set(found.path.tolist()) == one | two | none


@settings(max_examples=30)
@given(graphs, st.lists(triples, min_size=2, max_size=6), st.randoms())
def test_the_order_and_company_of_claims_do_not_matter(known, asked, random) -> None:
    alone = [features_of(known, each)[0] for each in asked]
    order = list(range(len(asked)))
    random.shuffle(order)
    together = features_of(known, *(asked[place] for place in order))
    for place, found in zip(order, together, strict=True):
        assert found == pytest.approx(alone[place])


def test_a_path_that_goes_with_a_type_speaks_for_it() -> None:
    # Who leads a team (0) works in it (1); node 20 leads a team too, and 22 only works near one.
    size = 40
    known = [(person, 0, person + 20) for person in range(15)] + [
        (person, 1, person + 20) for person in range(14)
    ]
    subject, type, object = np.array(known).T
    kind = np.zeros(size, dtype=np.int64)
    laid = from_triples(subject, type, object, types=3, kind=kind, kinds=2)
    rules = path_features.learn(laid)
    asked = Claims(
        subject=np.array([14, 0, 3]),
        type=np.array([1, 1, 1]),
        object=np.array([34, 20, 25]),
        subject_kind=kind[:3],
        object_kind=kind[:3],
    )
    shared = path_features.common(laid, asked.subject, asked.object)
    likely, stored, unlikely = path_features.evidence(
        laid, rules, asked, path_features.between(laid, asked, shared)
    )[:, 1]
    assert likely > 1
    assert unlikely <= 0 < stored < likely  # what is stored is not its own witness


@settings(max_examples=50)
@given(graphs, triples, st.booleans())
def test_what_paths_say_is_how_much_oftener_they_join_ends_of_the_type(
    known: list[Triple], asked: Triple, every: bool
) -> None:
    laid = facts(known)
    rules = replace(path_features.learn(laid), every=every)
    one = claims(asked)
    shared = path_features.common(laid, one.subject, one.object)
    paths = path_features.between(laid, one, shared)
    holds, shuffled = (
        dict(zip(each.keys.tolist(), each.counts.tolist(), strict=True))
        for each in (rules.holds, rules.shuffled)
    )
    own = int(asked in known and every)
    says = []
    for path in paths.path.tolist():
        key = path * laid.types + asked[1]
        scale = (rules.held[asked[1]] - own) / max(rules.tried[asked[1]], 1)
        held = max(holds.get(key, 0) - own, 0)
        says.append(np.clip(np.log((held + 1) / (shuffled.get(key, 0) * scale + 1)), -5, 5))
    expected = [sum(says), max(says), min(says), sum(says) / np.sqrt(len(says))]
    assert path_features.evidence(laid, rules, one, paths)[0] == pytest.approx(expected)


@settings(max_examples=30)
@given(graphs)
def test_what_is_learned_of_paths_is_counted_over_all_triples(known: list[Triple]) -> None:
    laid = facts(known)
    rules = path_features.learn(laid)
    assert rules.every
    assert rules.held.tolist() == [sum(triple[1] == type for triple in known) for type in range(TYPES + 1)]
    expected: Counter[int] = Counter()
    for triple in known:
        one = claims(triple)
        shared = path_features.common(laid, one.subject, one.object)
        for path in path_features.between(laid, one, shared).path.tolist():
            expected[path * laid.types + triple[1]] += 1
    assert dict(zip(rules.holds.keys.tolist(), rules.holds.counts.tolist(), strict=True)) == expected
    # Each triple gets another end once a side; what is a triple or joins a node to itself is left out.
    assert (rules.tried <= 2 * rules.held).all()


def test_a_path_says_no_more_than_a_bound() -> None:
    laid = facts([(0, 0, 1), (0, 1, 1)])
    one = claims((0, 0, 1))
    paths = path_features.between(laid, one, path_features.common(laid, one.subject, one.object))
    key = paths.path * laid.types
    often = Counted(keys=np.sort(key), counts=np.full(len(key), 10**6))
    never = Counted(keys=np.zeros(0, np.int64), counts=np.zeros(0, np.int64))
    rules = path_features.Rules(
        holds=often, shuffled=never, held=np.full(4, 10), tried=np.full(4, 10), every=False
    )
    assert path_features.evidence(laid, rules, one, paths)[0].tolist()[1:3] == [5, 5]
    rules = replace(rules, holds=never, shuffled=often)
    assert path_features.evidence(laid, rules, one, paths)[0].tolist()[1:3] == [-5, -5]


def star(size: int, edges: list[Triple], types: int = 3) -> Facts:
    subject, type, object = np.array(edges, dtype=np.int64).T
    return from_triples(subject, type, object, types=types, kind=np.zeros(size, dtype=np.int64), kinds=2)


@pytest.mark.parametrize(("shared", "found"), [(255, 255), (256, 256), (300, 256)])
def test_of_a_hub_some_neighbours_are_looked_at(shared: int, found: int) -> None:
    edges = [(hub, 0, 2 + node) for hub in (0, 1) for node in range(shared)]
    laid = star(2 + shared, edges)
    assert len(path_features.common(laid, np.array([0]), np.array([1])).node) == found


@pytest.mark.parametrize(("total", "looked_at"), [(50_000, 50_000), (50_001, 25_001), (100_001, 33_334)])
def test_of_many_triples_an_even_sample_is_learned_from(total: int, looked_at: int) -> None:
    laid = star(total + 1, [(node, 0, node + 1) for node in range(total)])
    rules = path_features.learn(laid)
    assert (rules.held.sum(), rules.every) == (looked_at, looked_at == total)


@pytest.mark.parametrize(("others", "compared"), [(127, 127), (128, 128), (200, 128)])
def test_a_node_is_compared_with_an_even_sample_of_others(others: int, compared: int) -> None:
    # Each other stands so to the hub, and shares one more edge with a claimant of its own.
    hub, size = 0, 1 + 3 * others
    first, twin, extra = (1 + np.arange(others) + part * others for part in range(3))
    edges = [(int(node), 0, hub) for node in first]
    edges += [(int(node), 1, int(thing)) for node, thing in zip(first, extra, strict=True)]
    edges += [(int(node), 1, int(thing)) for node, thing in zip(twin, extra, strict=True)]
    laid = star(size, edges)
    asked = laid.claims(twin, np.zeros(others, dtype=np.int64), np.zeros(others, dtype=np.int64))
    found = similar_entities.likeness(laid, similar_entities.profiles(laid), asked)
    like = np.flatnonzero(found[:, 0] > 0)
    assert len(like) == compared
    assert np.diff(like).max() <= 2


def test_a_profile_keeps_the_rarest_edges_of_a_node_with_many() -> None:
    common, rare = 1 + np.arange(50), 51 + np.arange(250)
    edges = [(0, 0, int(node)) for node in (*common, *rare)]
    edges += [(301, 0, int(node)) for node in common]
    laid = star(302, edges)
    known = similar_entities.profiles(laid)
    rows = np.diff(known.matrix.indptr)
    assert (rows[0], rows[301], rows[1], rows[60]) == (256, 50, 2, 1)
    kept = known.matrix[0].toarray().ravel()
    assert np.sort(kept[kept > 0])[:6] == pytest.approx([np.log1p(302 / 2)] * 6)
    assert (kept > np.log1p(302 / 2) + 1e-9).sum() == 250
    assert known.squares[0] == pytest.approx((kept**2).sum())


def test_an_empty_graph_says_nothing() -> None:
    assert not graph_features.topology(learned([]), claims((0, 0, 1), (2, 1, 3))).any()


def test_ends_and_types_that_the_graph_does_not_know() -> None:
    unknown = Claims(
        subject=np.array([-1, 0]),
        type=np.array([0, TYPES]),
        object=np.array([1, 1]),
        subject_kind=np.array([-1, 0]),
        object_kind=np.array([1, 1]),
    )
    rows = graph_features.topology(learned([(0, 0, 2), (1, 1, 2)]), unknown)
    assert np.isfinite(rows).all()
    assert rows[0, graph_features.NAMES.index("topology")] == 0
    assert rows[0, graph_features.NAMES.index("isolated")] == 1
    assert rows[1, graph_features.NAMES.index("topology")] == 1
