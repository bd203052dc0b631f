from collections.abc import Iterator

import networkx as nx
import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from hydramem.graph import walks
from hydramem.graph.snapshot import adjacency
from tests.examples import FEW

Edges = list[tuple[int, int]]


@st.composite
def graphs(draw: st.DrawFn) -> tuple[int, Edges, np.ndarray, adjacency.Adjacency]:
    """A graph, a mask of its edges, and its adjacency with some edges and nodes in the overlay."""
    size = draw(st.integers(2, 14))
    ends = st.integers(0, size - 1)
    edges = draw(st.lists(st.tuples(ends, ends).filter(lambda pair: pair[0] != pair[1]), max_size=30))
    mask = np.array(draw(st.lists(st.booleans(), min_size=len(edges), max_size=len(edges))), dtype=bool)
    columns = np.array(edges, dtype=np.int32).reshape(-1, 2)
    early = draw(st.integers(0, len(edges)))
    known = int(columns[:early].max(initial=0)) + 1
    base = adjacency.build(known, columns[:early, 0], columns[:early, 1])
    return size, edges, mask, adjacency.overlay(base, size, columns[:, 0], columns[:, 1])


def oracle(size: int, edges: Edges, mask: np.ndarray) -> nx.Graph:
    graph = nx.Graph()
    graph.add_nodes_from(range(size))
    for (one, other), admitted in zip(edges, mask, strict=True):
        if admitted:
            weight = graph.get_edge_data(one, other, {"weight": 0})["weight"] + 1
            graph.add_edge(one, other, weight=weight)
    return graph


def nodes_along(edges: Edges, halves: tuple[int, ...], start: int) -> Iterator[int]:
    yield start
    for half in halves:
        ends = edges[half >> 1]
        assert ends[half & 1] == start
        start = ends[1 - (half & 1)]
        yield start


@FEW
@given(graphs(), st.integers(0, 5))
def test_bfs_gives_distances_and_a_way_back(graph, depth: int) -> None:
    size, edges, mask, csr = graph
    expected = nx.single_source_shortest_path_length(oracle(size, edges, mask), 0, cutoff=depth)
    reached = walks.bfs(csr, np.array([0], dtype=np.int32), depth=depth, edges=mask)
    assert dict(zip(reached.nodes.tolist(), reached.distances.tolist(), strict=True)) == dict(expected)
    for place, node in enumerate(reached.nodes):
        way = walks.trail(reached, place)
        assert len(way) == reached.distances[place]
        assert list(nodes_along(edges, way, 0))[-1] == node


@FEW
@given(graphs())
def test_shortest_path_is_a_path_and_shortest(graph) -> None:
    size, edges, mask, csr = graph
    known = oracle(size, edges, mask)
    path = walks.shortest_path(csr, 0, size - 1, depth=size, edges=mask)
    if not nx.has_path(known, 0, size - 1):
        assert path is None
    else:
        assert path is not None
        assert all(mask[half >> 1] for half in path)
        assert list(nodes_along(edges, path, 0))[-1] == size - 1
        assert len(path) == nx.shortest_path_length(known, 0, size - 1)


def test_the_way_may_not_pass_a_masked_node() -> None:
    graph = adjacency.build(3, np.array([0, 1], dtype=np.int32), np.array([1, 2], dtype=np.int32))
    passable = np.array([False, False, False])
    assert walks.shortest_path(graph, 0, 2, depth=5, nodes=passable) is None
    assert walks.shortest_path(graph, 0, 1, depth=5, nodes=passable) == (0,)
    assert walks.shortest_path(graph, 0, 2, depth=1) is None


def test_bfs_reaches_an_end_and_does_not_go_on_from_it() -> None:
    # 0 to 1 to 2 to 3, and 0 to 4 to 5.
    graph = adjacency.build(
        6, np.array([0, 1, 2, 0, 4], dtype=np.int32), np.array([1, 2, 3, 4, 5], dtype=np.int32)
    )
    ends = np.array([True, True, False, False, False, False])
    reached = walks.bfs(graph, np.array([0], dtype=np.int32), depth=5, ends=ends)
    assert reached.nodes.tolist() == [0, 1, 4, 5]
    assert walks.trail(reached, 3) == (6, 8)


def test_of_equally_short_ways_the_one_through_rare_nodes_is_taken() -> None:
    # 0 to 5 in four steps, through 1, 2, 3 or past 4, which has many more neighbours than 2.
    sources = np.array([0, 1, 4, 1, 2, 3, *[4] * 9], dtype=np.int32)
    targets = np.array([1, 4, 3, 2, 3, 5, *range(6, 15)], dtype=np.int32)
    graph = adjacency.build(15, sources, targets)
    assert walks.shortest_path(graph, 0, 5, depth=6) == (0, 6, 8, 10)


def test_of_the_edges_that_lead_on_from_a_level_the_heaviest_come_first() -> None:
    graph = adjacency.build(5, np.array([0, 0, 0, 0]), np.array([1, 2, 2, 3]))
    weights = np.array([0.2, 0.1, 0.9, 0.5], dtype=np.float32)
    start = np.array([0], dtype=np.int32)
    reached = walks.bfs(graph, start, depth=1, weights=weights)
    assert reached.nodes.tolist() == [0, 2, 3, 1]
    assert (reached.halves[1:] >> 1).tolist() == [2, 3, 0]
    assert walks.bfs(graph, start, depth=1, weights=weights, limit=2).nodes.tolist() == [0, 2]
    assert walks.bfs(graph, start, depth=1).nodes.tolist() == [0, 1, 2, 3]
