import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hydramem.graph.centrality import centrality
from hydramem.graph.snapshot.snapshot import Snapshot
from hydramem.graph.snapshot.snapshot_writer import load
from tests.examples import FEW
from tests.graph.graphs import P, chunk, entity, mention, relation, tables

NAMES = [entity(name) for name in "abcdefg"]
CHUNKS = [chunk(f"c{number}") for number in range(5)]


@st.composite
def rows(draw: st.DrawFn) -> list[object]:
    """Entities, chunks, and some relations and mentions among them, in any order."""
    one, other = st.sampled_from(NAMES), st.sampled_from(NAMES)
    relations = st.builds(
        lambda a, b, c: relation(a, "knows", b, confidence=c), one, other, st.floats(0.1, 1)
    )
    mentions = st.builds(mention, st.sampled_from(CHUNKS), one, st.integers(1, 3))
    edges: list[object] = draw(st.lists(relations, max_size=12, unique_by=lambda edge: edge.id))
    edges += draw(st.lists(mentions, max_size=12, unique_by=lambda edge: (edge.chunk, edge.entity)))
    return draw(st.permutations([*NAMES, *CHUNKS, *edges]))


def seen(snapshot: Snapshot) -> dict[str, np.ndarray]:
    return {"edges": snapshot.edge_mask(), "nodes": snapshot.node_mask()}


def no_hubs(snapshot: Snapshot) -> np.ndarray:
    return np.zeros(snapshot.size, dtype=np.bool_)


def as_networkx(snapshot: Snapshot) -> nx.Graph:
    known = nx.Graph()
    columns = snapshot.edges
    for source, target, weight in zip(columns.source, columns.target, columns.weight, strict=True):
        if source != target:
            before = known.get_edge_data(source, target, {"weight": 0.0})["weight"]
            known.add_edge(int(source), int(target), weight=before + min(float(weight), 1.0))
    return known


@FEW
@given(rows())
def test_pagerank_is_networkx_s_with_restarts_at_entities(given_rows) -> None:
    snapshot = load(P, *tables(*given_rows))
    measured = centrality(snapshot, **seen(snapshot), hubs=no_hubs(snapshot))
    known = as_networkx(snapshot)
    entities = [node for node in known if not snapshot.nodes.is_chunk[node]]
    assert sorted(measured.nodes.tolist()) == sorted(entities)
    if entities:
        share = nx.pagerank(
            known, alpha=0.85, personalization=dict.fromkeys(entities, 1.0), tol=1e-10, max_iter=500
        )
        total = sum(share[node] for node in entities)
        for node, value in zip(measured.nodes.tolist(), measured.pagerank.tolist(), strict=True):
            assert value == pytest.approx(share[node] / total, abs=1e-5)


@FEW
@given(rows(), st.randoms())
def test_the_order_of_loading_changes_nothing(given_rows, random) -> None:
    shuffled = random.sample(given_rows, len(given_rows))
    one, other = (load(P, *tables(*some)) for some in (given_rows, shuffled))
    first, second = (
        centrality(snapshot, **seen(snapshot), hubs=no_hubs(snapshot)) for snapshot in (one, other)
    )
    assert [one.label(node) for node in first.nodes] == [other.label(node) for node in second.nodes]
    assert first.pagerank.tolist() == second.pagerank.tolist()


def test_it_counts_relations_and_chunks_that_may_be_seen() -> None:
    ada, billing, lonely = entity("Ada"), entity("billing"), entity("lonely")
    kept, gone = chunk("kept"), chunk("gone", state="archived")
    snapshot = load(
        P,
        *tables(
            *(ada, billing, lonely, kept, gone),
            *(relation(ada, "leads", billing), relation(ada, "left", billing, state="archived")),
            *(relation(ada, "praises", ada), mention(kept, ada, 7), mention(gone, ada)),
        ),
    )
    measured = centrality(snapshot, **seen(snapshot), hubs=no_hubs(snapshot))
    told = {
        snapshot.label(node): (relations, chunks)
        for node, relations, chunks in zip(measured.nodes, measured.relations, measured.chunks, strict=True)
    }
    assert told == {"Ada": (2, 1), "billing": (1, 0)}
    assert measured.pagerank.sum() == pytest.approx(1)
