"""What the graph says of a claim, against plain counting on tiny graphs."""

from collections import Counter

import networkx as nx
import numpy as np
import pytest

from hydramem.verification.first_stage import graph_features, path_features, similar_entities
from hydramem.verification.first_stage.relation_arrays import Claims, from_triples
from hydramem.verification.first_stage.similar_entities import Learned
from tests.verification.first_stage.triples import EVERY, KIND, SIZE, TYPES, Triple, claims, facts, of_graphs


def learned(known: list[Triple]) -> Learned:
    laid = facts(known)
    return Learned(
        facts=laid,
        rules=path_features.learn(laid),
        profiles=similar_entities.profiles(laid),
        edges=len(known),
    )


def features_of(known: list[Triple], asked: list[Triple] = EVERY) -> list[dict[str, float]]:
    rows = graph_features.topology(learned(known), claims(asked))
    return [dict(zip(graph_features.NAMES, row, strict=True)) for row in rows.tolist()]


@of_graphs(12)
def test_neighbours_as_networkx_counts_them_without_the_claim(known: list[Triple]) -> None:
    for asked, found in zip(EVERY, features_of(known), strict=True):
        rest = [triple for triple in known if triple != asked]
        ends = (asked[0], asked[2])
        alone = sum(not any(end in (one, other) for one, _, other in rest) for end in ends)
        assert found["isolated"] == alone
        assert found["topology"] == (alone == 0)
        if alone:
            assert not any(value for name, value in found.items() if name != "isolated")
            continue
        graph = nx.Graph((one, other) for one, _, other in known if {one, other} != set(ends))
        graph.add_nodes_from(range(SIZE))
        assert found["jaccard"] == pytest.approx(next(nx.jaccard_coefficient(graph, [ends]))[2])
        assert found["adamic_adar"] == pytest.approx(next(nx.adamic_adar_index(graph, [ends]))[2])


@of_graphs(12)
def test_priors_as_counted_by_hand_without_the_claim(known: list[Triple]) -> None:
    for asked, found in zip(EVERY, features_of(known), strict=True):
        if not found["topology"]:
            continue
        rest = [triple for triple in known if triple != asked]
        heads = sum(triple[:2] == asked[:2] for triple in rest)
        tails = sum(triple[1:] == asked[1:] for triple in rest)
        assert found["head_prior"] == pytest.approx(np.log1p(heads))
        assert found["tail_prior"] == pytest.approx(np.log1p(tails))

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


@of_graphs(5)
def test_paths_and_likeness_are_the_last_features_where_the_graph_joins_both_ends(
    known: list[Triple],
) -> None:
    of_graph, asked = learned(known), claims(EVERY)
    shared = path_features.common(of_graph.facts, asked.subject, asked.object)
    paths = path_features.between(of_graph.facts, asked, shared)
    expected = np.hstack(
        [
            path_features.evidence(of_graph.facts, of_graph.rules, asked, paths),
            similar_entities.likeness(of_graph.facts, of_graph.profiles, asked),
        ]
    )
    rows = graph_features.topology(of_graph, asked)
    joined = rows[:, graph_features.NAMES.index("topology")] == 1
    assert rows[joined, -6:] == pytest.approx(expected[joined])
    assert graph_features.NAMES[-6:] == (*path_features.NAMES, *similar_entities.NAMES)


@of_graphs(3)
def test_the_order_and_company_of_claims_do_not_matter(known: list[Triple]) -> None:
    together = features_of(known)
    assert features_of(known, EVERY[::-1]) == together[::-1]
    for place in range(0, len(EVERY), 25):
        assert features_of(known, [EVERY[place]]) == [pytest.approx(together[place])]


def test_where_all_relations_are_of_one_type_no_end_is_oftener_at_a_side_of_it() -> None:
    known = [(0, 0, 2), (0, 0, 3), (1, 0, 2), (4, 0, 3)]
    (found,) = features_of(known, known[:1])
    assert (found["head_lift"], found["tail_lift"]) == (0, 0)


def test_an_empty_graph_says_nothing() -> None:
    assert not graph_features.topology(learned([]), claims([(0, 0, 1), (2, 1, 3)])).any()


def test_ends_and_types_that_the_graph_does_not_know() -> None:
    unknown = Claims(
        subject=np.array([-1, 0, 0, -1]),
        type=np.array([0, TYPES, 0, 0]),
        object=np.array([1, 1, -1, -1]),
        subject_kind=np.array([-1, 0, 0, -1]),
        object_kind=np.array([1, 1, -1, -1]),
    )
    rows = graph_features.topology(learned([(0, 0, 2), (1, 1, 2)]), unknown)
    assert np.isfinite(rows).all()
    assert rows[:, graph_features.NAMES.index("topology")].tolist() == [0, 1, 0, 0]
    assert rows[:, graph_features.NAMES.index("isolated")].tolist() == [1, 0, 1, 2]


def test_kinds_say_something_only_where_both_are_known() -> None:
    kind = np.array([0, 0, -1, -1])
    known = [(0, 0, 1), (2, 0, 1), (0, 0, 2), (2, 0, 3), (1, 1, 0)]
    laid = from_triples(*np.array(known).T, types=3, kind=kind, kinds=2)
    of_graph = Learned(
        facts=laid,
        rules=path_features.learn(laid),
        profiles=similar_entities.profiles(laid),
        edges=len(known),
    )
    asked = laid.claims(np.array([1, 2, 1, 3]), np.zeros(4, np.int64), np.array([0, 0, 3, 2]))
    found = graph_features.topology(of_graph, asked)[:, graph_features.NAMES.index("signature")]
    assert found.tolist() == pytest.approx([np.log((1 + 1) / (2 / 5 * 4 + 1)), 0, 0, 0])
