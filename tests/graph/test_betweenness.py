from itertools import pairwise

import networkx as nx
import pytest
from hypothesis import given

from hydramem.graph.betweenness import betweenness
from hydramem.graph.centrality import weight_matrix
from hydramem.graph.snapshot.snapshot import Snapshot
from hydramem.graph.snapshot.snapshot_writer import load
from tests.examples import FEW
from tests.graph.graphs import P, entity, relation, tables
from tests.graph.test_centrality import as_networkx, rows, seen


def measured(snapshot: Snapshot, **options: int) -> dict[int, float]:
    joined, matrix = weight_matrix(snapshot, **seen(snapshot))
    shares = betweenness(matrix, ~snapshot.nodes.is_chunk[joined], **options)
    return dict(zip(joined.tolist(), shares.tolist(), strict=True))


@FEW
@given(rows())
def test_it_is_networkx_s_between_entities(given_rows) -> None:
    snapshot = load(P, *tables(*given_rows))
    known = as_networkx(snapshot)
    entities = [node for node in known if not snapshot.nodes.is_chunk[node]]
    pairs = max((len(entities) - 1) * (len(entities) - 2), 1)
    expected = nx.betweenness_centrality_subset(known, entities, entities) if entities else {}
    found = measured(snapshot)
    assert found.keys() == set(known)
    for node, share in found.items():
        # Undirected, networkx counts each pair once.
        assert share == pytest.approx(2 * expected[node] / pairs if len(entities) > 2 else 0)


def chain_of_stars(size: int) -> list[object]:
    """Return a chain of entities, each with leaves: the middle of the chain is on most paths."""
    chain = [entity(f"chain {place:02}") for place in range(size)]
    leaves = [entity(f"leaf {place:02} {number}") for place in range(size) for number in range(4)]
    along = [relation(one, "next", other) for one, other in pairwise(chain)]
    hanging = [relation(chain[place // 4], "has", leaf) for place, leaf in enumerate(leaves)]
    return [*chain, *leaves, *along, *hanging]


def test_a_sample_is_close_and_the_same_however_the_graph_was_loaded() -> None:
    given_rows = chain_of_stars(30)
    one, other = (load(P, *tables(*some)) for some in (given_rows, given_rows[::-1]))
    exact, sample, again = measured(one), measured(one, most_steps=9000), measured(other, most_steps=9000)
    assert exact != sample
    assert max(abs(exact[node] - sample[node]) for node in exact) < 0.1
    assert {one.label(node): share for node, share in sample.items()} == {
        other.label(node): share for node, share in again.items()
    }
