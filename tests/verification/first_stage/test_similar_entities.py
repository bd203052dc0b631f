"""How like a claim's ends are to what stands so already, and how long what is learned of a graph serves."""

from collections import Counter
from itertools import pairwise

import numpy as np
import pytest

from hydramem.graph.snapshot.snapshot_writer import SnapshotWriter
from hydramem.storage.write import Write
from hydramem.verification.first_stage import similar_entities
from hydramem.verification.first_stage.similar_entities import learned, prepare
from tests.graph.graphs import P, entity, relation, tables, write
from tests.verification.first_stage.triples import EVERY, SIZE, Triple, claims, facts, large_graph, of_graphs


@of_graphs(12)
def test_likeness_as_the_cosine_of_edges_without_the_claim(known: list[Triple]) -> None:
    laid = facts(known)
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

    rows = similar_entities.likeness(laid, similar_entities.profiles(laid), claims(EVERY))
    assert ((rows >= 0) & (rows <= 1)).all()
    for (subject, type, object), found in zip(EVERY, rows.tolist(), strict=True):
        subjects = {one for one, kind, other in known if (kind, other) == (type, object)} - {subject}
        objects = {other for one, kind, other in known if (one, kind) == (subject, type)} - {object}
        like_subject = max((cosine(subject, other, (type, 0, object)) for other in subjects), default=0)
        like_object = max((cosine(object, other, (type, 1, subject)) for other in objects), default=0)
        assert found == pytest.approx([like_subject, like_object])


def test_of_a_graph_without_relations_nothing_is_like_anything() -> None:
    laid = facts([])
    known = similar_entities.profiles(laid)
    assert known.matrix.shape == (SIZE, 1)
    assert known.matrix.nnz == 0
    assert not similar_entities.likeness(laid, known, claims(EVERY)).any()


@pytest.mark.parametrize(("others", "compared"), [(127, 127), (128, 128), (200, 128)])
def test_a_node_is_compared_with_an_even_sample_of_others(others: int, compared: int) -> None:
    # Each other stands so to the hub, and shares one more edge with a claimant of its own.
    hub, size = 0, 1 + 3 * others
    first, twin, extra = (1 + np.arange(others) + part * others for part in range(3))
    edges = [(int(node), 0, hub) for node in first]
    edges += [(int(node), 1, int(thing)) for node, thing in zip(first, extra, strict=True)]
    edges += [(int(node), 1, int(thing)) for node, thing in zip(twin, extra, strict=True)]
    laid = large_graph(size, edges)
    asked = laid.claims(twin, np.zeros(others, dtype=np.int64), np.zeros(others, dtype=np.int64))
    found = similar_entities.likeness(laid, similar_entities.profiles(laid), asked)
    like = np.flatnonzero(found[:, 0] > 0)
    assert len(like) == compared
    assert np.diff(like).max() <= 2


def test_many_comparisons_are_made_in_blocks_with_the_same_result() -> None:
    # 600 subjects stand so to one object, so that 600 times 128 pairs are compared.
    size = 700
    edges = [(node, 0, 600) for node in range(600)] + [(node, 1, 601 + node % 5) for node in range(600)]
    laid = large_graph(size, edges)
    known = similar_entities.profiles(laid)
    asked = laid.claims(np.arange(600), np.zeros(600, np.int64), np.full(600, 600))
    together = similar_entities.likeness(laid, known, asked)
    alone = [
        similar_entities.likeness(laid, known, laid.claims(*(np.array([each]) for each in (node, 0, 600))))[0]
        for node in (0, 250, 511, 512, 513, 599)
    ]
    assert together[[0, 250, 511, 512, 513, 599]] == pytest.approx(np.array(alone))


@pytest.mark.parametrize(("edges", "kept"), [(255, 255), (256, 256), (257, 256)])
def test_a_profile_has_at_most_so_many_edges(edges: int, kept: int) -> None:
    laid = large_graph(edges + 1, [(0, 0, 1 + node) for node in range(edges)])
    assert similar_entities.profiles(laid).matrix[0].nnz == kept


def test_each_of_several_nodes_with_many_edges_keeps_some() -> None:
    edges = [(hub, 0, 3 + 300 * hub + node) for hub in range(3) for node in range(300)]
    laid = large_graph(1000, edges)
    assert [similar_entities.profiles(laid).matrix[hub].nnz for hub in range(3)] == [256] * 3


def test_a_profile_keeps_the_rarest_edges_of_a_node_with_many() -> None:
    common, rare = 1 + np.arange(50), 51 + np.arange(250)
    edges = [(0, 0, int(node)) for node in (*common, *rare)]
    edges += [(301, 0, int(node)) for node in common]
    laid = large_graph(302, edges)
    known = similar_entities.profiles(laid)
    rows = np.diff(known.matrix.indptr)
    assert (rows[0], rows[301], rows[1], rows[60]) == (256, 50, 2, 1)
    kept = known.matrix[0].toarray().ravel()
    assert np.sort(kept[kept > 0])[:6] == pytest.approx([np.log1p(302 / 2)] * 6)
    assert (kept > np.log1p(302 / 2) + 1e-9).sum() == 250
    assert known.squares[0] == pytest.approx((kept**2).sum())


# What is learned serves for a while ------------------------------------------------------------------


def chain(begin: int, end: int) -> list[object]:
    names = [entity(f"e{number}") for number in range(begin, end)]
    return [*names, *(relation(one, "next", other) for one, other in pairwise(names))]


def chained(before: int, added: int) -> tuple[SnapshotWriter, Write]:
    """Return a graph of so many relations, and what adds more."""
    rows = chain(0, before + added + 1)
    kept = len(rows) - added
    return SnapshotWriter(P, *tables(*rows[:kept])), write(*rows[kept:])


@pytest.mark.parametrize(("before", "added", "kept"), [(999, 1, False), (1000, 1, True), (1001, 1, True)])
def test_only_what_more_than_a_thousand_relations_teach_is_kept(before: int, added: int, kept: bool) -> None:
    growing, more = chained(before, added)
    prepare(growing.snapshot())
    known = learned(growing.snapshot())
    assert (learned(growing.snapshot()) is known) is (before > 1000)
    growing.apply(more)
    again = learned(growing.snapshot())
    assert len(again.facts.subject) == before + (0 if kept else added)


@pytest.mark.parametrize(("edges", "ahead"), [(1000, False), (1001, True)])
def test_only_of_more_than_a_thousand_relations_is_learned_ahead(edges: int, ahead: bool) -> None:
    growing, more = chained(edges, 1)
    prepare(growing.snapshot())
    growing.apply(more)
    assert len(learned(growing.snapshot()).facts.subject) == edges + (0 if ahead else 1)


@pytest.mark.parametrize(("added", "kept"), [(110, True), (111, False)])
def test_what_is_kept_serves_until_the_graph_grew_by_a_tenth(added: int, kept: bool) -> None:
    growing, more = chained(1100, added)
    known = learned(growing.snapshot())
    growing.apply(more)
    assert (learned(growing.snapshot()) is known) is kept
