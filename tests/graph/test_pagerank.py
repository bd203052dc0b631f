import networkx as nx
import numpy as np
import pytest
from hypothesis import given

from hydramem.graph.pagerank import push
from hydramem.graph.snapshot import adjacency
from tests.graph.test_walks import graphs, oracle


@given(graphs())
def test_pushed_far_enough_it_is_networkx_s(graph) -> None:
    size, edges, mask, csr = graph
    restart = np.zeros(size)
    restart[[0, 1]] = 0.25, 0.75
    found, probability = push(
        csr,
        restart,
        weights=np.ones(len(edges), dtype=np.float32),
        damping=0.7,
        rounds=200,
        edges=mask,
        precision=1e-9,
    )
    known = nx.pagerank(oracle(size, edges, mask), alpha=0.7, personalization={0: 0.25, 1: 0.75}, tol=1e-9)
    assert probability.sum() == pytest.approx(1, abs=1e-5)
    told = dict(zip(found.tolist(), probability.tolist(), strict=True))
    assert all(told.get(node, 0.0) == pytest.approx(value, abs=1e-4) for node, value in known.items())


def test_it_passes_no_masked_node_but_may_start_at_one() -> None:
    chain = np.arange(9, dtype=np.int32)
    graph = adjacency.build(10, chain, chain + 1)
    passable = np.ones(10, dtype=bool)
    passable[[4, 6]] = False
    restart = np.zeros(10)
    restart[4] = 1
    found, _ = push(
        graph, restart, weights=np.ones(9, dtype=np.float32), damping=0.7, rounds=50, nodes=passable
    )
    assert found.tolist() == [0, 1, 2, 3, 4, 5]


def test_its_cost_is_that_of_what_it_touches() -> None:
    ring = np.arange(200_000, dtype=np.int32)
    graph = adjacency.build(len(ring), ring, np.roll(ring, -1))
    restart = np.zeros(len(ring))
    restart[1000] = 1
    found, probability = push(
        graph, restart, weights=np.ones(len(ring), dtype=np.float32), damping=0.7, rounds=15
    )
    assert len(found) < 100
    assert found[np.argmax(probability)] == 1000
