"""The benchmark of false relations puts in what is false, and what is hard to tell from true ones."""

from benchmarks import false_edges
from tests.garden.graphs import triples


def test_false_relations_are_none_of_the_true_ones_and_consistent_ones_fit_their_type() -> None:
    true = triples(40)
    wrong = false_edges.falsified(true, 0.1, "consistent")
    assert len(wrong) == len(set(wrong)) >= 0.1 * len(true)
    assert set(wrong).isdisjoint(true)
    starts, ends = {one[:2] for one in true}, {one[1:] for one in true}
    assert all((subject, type) in starts or (type, object) in ends for subject, type, object in wrong)
    assert wrong == false_edges.falsified(true, 0.1, "consistent")
