import networkx as nx
from hypothesis import given
from hypothesis import strategies as st

from hydramem.graph.communities import communities
from hydramem.graph.snapshot.snapshot_writer import load
from tests.examples import FEW
from tests.graph.graphs import P, entity, relation, tables
from tests.graph.test_centrality import as_networkx, rows, seen


def clique(names: str) -> list[object]:
    members = [entity(name) for name in names]
    knows = [
        relation(one, "knows", other) for place, one in enumerate(members) for other in members[place + 1 :]
    ]
    return [*members, *knows]


def names(given_rows: list[object], **options: float) -> list[set[str]]:
    snapshot = load(P, *tables(*given_rows))
    return [
        {snapshot.label(node) for node in group}
        for group in communities(snapshot, **seen(snapshot), **options)
    ]


BRIDGED = [*clique("abcdef"), *clique("uvwxy"), relation(entity("a"), "calls", entity("u"))]


def test_two_circles_of_friends_are_two_communities() -> None:
    assert names(BRIDGED) == [set("abcdef"), set("uvwxy")]
    assert names(BRIDGED, resolution=0.01) == [set("abcdefuvwxy")]
    assert len(names(BRIDGED, resolution=20.0)) > 2


@FEW
@given(rows(), st.randoms())
def test_they_part_the_graph_are_connected_and_always_the_same(given_rows, random) -> None:
    snapshot = load(P, *tables(*given_rows))
    groups = communities(snapshot, **seen(snapshot))
    known = as_networkx(snapshot)
    assert sorted(node for group in groups for node in group.tolist()) == sorted(known)
    assert all(nx.is_connected(known.subgraph(group.tolist())) for group in groups)
    assert names(random.sample(given_rows, len(given_rows))) == names(given_rows)
