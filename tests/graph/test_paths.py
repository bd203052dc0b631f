from itertools import islice

import networkx as nx
import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from hydramem.graph.paths import best_paths
from hydramem.graph.snapshot import adjacency
from tests.examples import FEW
from tests.graph.test_walks import graphs, nodes_along, oracle


@FEW
@given(graphs(), st.integers(1, 6), st.integers(0, 8))
def test_the_best_ways_are_the_shortest_and_pass_no_node_twice(graph, count: int, depth: int) -> None:
    size, edges, mask, csr = graph
    known, end = oracle(size, edges, mask), size - 1
    ways = best_paths(csr, 0, end, count=count, depth=depth, edges=mask)
    expected = []
    if nx.has_path(known, 0, end):
        every = (len(way) - 1 for way in nx.shortest_simple_paths(known, 0, end))
        expected = list(islice((length for length in every if length <= depth), count))
    assert [len(way) for way in ways] == expected
    passed = [tuple(nodes_along(edges, way, 0)) for way in ways]
    assert all(along[-1] == end and len(set(along)) == len(along) for along in passed)
    assert len(set(passed)) == len(passed)
    assert all(mask[half >> 1] for way in ways for half in way)


@FEW
@given(graphs(), st.data())
def test_no_way_passes_a_masked_node(graph, data) -> None:
    size, edges, mask, csr = graph
    passable = np.array(data.draw(st.lists(st.booleans(), min_size=size, max_size=size)))
    before = passable.copy()
    for way in best_paths(csr, 0, size - 1, count=4, depth=size, edges=mask, nodes=passable):
        assert all(passable[node] for node in list(nodes_along(edges, way, 0))[1:-1])
    assert (passable == before).all()


def test_parallel_edges_are_one_way_and_nowhere_to_go_is_one_empty_way() -> None:
    ends = np.array([0, 0, 1], dtype=np.int32), np.array([1, 1, 2], dtype=np.int32)
    graph = adjacency.build(3, *ends)
    assert len(best_paths(graph, 0, 2, count=5, depth=5)) == 1
    assert best_paths(graph, 1, 1, count=5, depth=5) == ((),)


def test_of_equally_long_ways_the_one_past_no_hub_comes_first() -> None:
    # 0 to 3 through 1, which has many neighbours, or through 2, which has none but them.
    sources = np.array([0, 1, 0, 2, *[1] * 9], dtype=np.int32)
    targets = np.array([1, 3, 2, 3, *range(4, 13)], dtype=np.int32)
    graph = adjacency.build(13, sources, targets)
    assert best_paths(graph, 0, 3, count=2, depth=4) == ((4, 6), (0, 2))
