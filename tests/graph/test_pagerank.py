import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hydramem.core.row_types import ABOUT
from hydramem.graph.pagerank import personalized_pagerank, push
from hydramem.graph.snapshot import adjacency
from tests.examples import FEW
from tests.graph.test_walks import graphs, oracle


def from_nodes(graph: adjacency.Adjacency, starts: object, weights: object, **options: object):
    """Walk from some nodes, alike."""
    starts = np.array(starts, dtype=np.int32)
    shares = np.ones(len(starts), dtype=np.float32)
    return personalized_pagerank(
        graph, starts, shares, weights=np.array(weights, dtype=np.float32), **options
    )


@FEW
@given(graphs(), st.integers(0, 1))
def test_pagerank_is_networkx_s(graph, seed: int) -> None:
    size, edges, mask, csr = graph
    ranked = from_nodes(csr, [seed], np.ones(len(edges)), edges=mask, iterations=60)
    known = nx.pagerank(oracle(size, edges, mask), alpha=0.7, personalization={seed: 1.0}, tol=1e-9)
    assert ranked.probability.sum() == pytest.approx(1, abs=1e-4)
    for node, probability in zip(ranked.nodes.tolist(), ranked.probability.tolist(), strict=True):
        assert probability == pytest.approx(known[node], abs=1e-4)


@pytest.mark.parametrize("count", [2_000, 12_000], ids=["few edges", "many"])
def test_it_solves_the_equation_of_a_graph_with_few_and_with_many_edges(count: int) -> None:
    chance = np.random.default_rng(count)
    size = count // 4
    sources, targets = chance.integers(0, size, (2, count)).astype(np.int32)
    weights = chance.uniform(0.1, 1.0, count).astype(np.float32)
    ranked = from_nodes(adjacency.build(size, sources, targets), sources[:1], weights, iterations=80)
    share = np.zeros(size)
    share[ranked.nodes] = ranked.probability
    strength = np.bincount(sources, weights, size) + np.bincount(targets, weights, size)
    each = np.divide(share, strength, out=np.zeros(size), where=strength > 0)
    reached = np.bincount(targets, weights * each[sources], size)
    reached += np.bincount(sources, weights * each[targets], size)
    restart = np.arange(size) == sources[0]
    assert share == pytest.approx(0.7 * reached + 0.3 * restart, abs=1e-6)


@pytest.mark.parametrize("whole", [1000, 10], ids=["whole", "pushed"])
def test_pagerank_skips_masked_nodes_but_starts_at_any(whole: int) -> None:
    chain = np.arange(99, dtype=np.int32)
    graph = adjacency.build(100, chain, chain + 1)
    passable = np.ones(100, dtype=bool)
    passable[[47, 50, 51]] = False
    ranked = from_nodes(graph, [50, 50], np.ones(99), nodes=passable, whole=whole)
    assert sorted(ranked.nodes.tolist()) == [48, 49, 50]
    assert ranked.probability.sum() == pytest.approx(1, abs=1e-4)


@pytest.mark.parametrize("whole", [0, 100])
def test_a_walk_goes_first_to_what_is_about_a_thing_however_often_others_name_it(whole: int) -> None:
    ends = np.array([1, 2, 3], dtype=np.int32)
    graph = adjacency.build(4, np.zeros(3, dtype=np.int32), ends)
    ranked = from_nodes(graph, [0], [1 + ABOUT, 1, 5], whole=whole)
    by_node = dict(zip(ranked.nodes.tolist(), ranked.probability.tolist(), strict=True))
    assert by_node[1] / by_node[2] == pytest.approx(ABOUT, rel=0.02)
    assert by_node[3] == pytest.approx(by_node[2], rel=0.02)


@FEW
@given(graphs())
def test_pushed_far_enough_it_is_networkx_s(graph) -> None:
    size, edges, mask, csr = graph
    restart = np.zeros(size)
    restart[[0, 1]] = 0.25, 0.75
    ranked = push(
        csr,
        restart,
        weights=np.ones(len(edges), dtype=np.float32),
        damping=0.7,
        rounds=200,
        edges=mask,
        precision=1e-9,
    )
    known = nx.pagerank(oracle(size, edges, mask), alpha=0.7, personalization={0: 0.25, 1: 0.75}, tol=1e-9)
    assert ranked.probability.sum() == pytest.approx(1, abs=1e-5)
    by_node = dict(zip(ranked.nodes.tolist(), ranked.probability.tolist(), strict=True))
    assert all(by_node.get(node, 0.0) == pytest.approx(value, abs=1e-4) for node, value in known.items())


def test_its_cost_is_that_of_what_it_touches() -> None:
    ring = np.arange(200_000, dtype=np.int32)
    graph = adjacency.build(len(ring), ring, np.roll(ring, -1))
    restart = np.zeros(len(ring))
    restart[1000] = 1
    ranked = push(graph, restart, weights=np.ones(len(ring), dtype=np.float32), damping=0.7, rounds=15)
    assert len(ranked.nodes) < 100
    assert ranked.nodes[np.argmax(ranked.probability)] == 1000


@pytest.mark.parametrize("whole", [0, 100])
def test_no_probability_goes_through_a_hub_unless_the_walk_begins_there(whole: int) -> None:
    # 0 to 1 (a hub) to 2, and 0 to 3 to 4.
    ends = np.array([0, 1, 0, 3], dtype=np.int32), np.array([1, 2, 3, 4], dtype=np.int32)
    graph = adjacency.build(5, *ends)

    def by_node(start: int, rarity: np.ndarray) -> list[float]:
        ranked = from_nodes(graph, [start], np.ones(4), rarity=rarity, iterations=60, whole=whole)
        shares = np.zeros(5)
        shares[ranked.nodes] = ranked.probability
        assert shares.sum() == pytest.approx(1, abs=1e-4)
        return shares.tolist()

    rarity = np.array([1, 0, 1, 1, 1], dtype=np.float32)
    shares = by_node(0, rarity)
    assert shares[1] == shares[2] == 0
    assert shares[4] > 0
    rarity[1] = 0.5
    assert 0 < by_node(0, rarity)[2] < by_node(0, rarity)[4]
    rarity[1] = 1
    assert by_node(1, rarity)[2] > 0
