"""Fingerprints: what a model was trained on is the same graph, nearly the same, or another one."""

from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.claims import graph
from hydramem.garden.edges.labelled_relations import no_labels
from hydramem.garden.edges.training_fingerprint import Fingerprint, fingerprint, stale
from tests.garden.graphs import odd_ones, triples

BASE = triples(60)


def of(made: list[tuple[str, str, str]], *shape: object) -> Fingerprint:
    snapshot = graph(made)
    return fingerprint(snapshot, no_labels(snapshot), settings=shape)


def test_the_same_graph_has_the_same_fingerprint_in_any_order() -> None:
    assert of(BASE).graph == of(BASE[::-1]).graph
    assert stale(of(BASE, 1), of(BASE[::-1], 1)) is None


@settings(max_examples=25)
@given(new=st.integers(0, 40), gone=st.integers(0, 40))
def test_it_serves_while_a_tenth_is_new_or_gone(new: int, gone: int) -> None:
    now = [*BASE[gone:], *((f"new {one}", "knows", f"person {one}") for one in range(new))]
    why = stale(of(BASE), of(now))
    assert (why is None) == (new + gone <= 0.1 * len(set(BASE)))


def test_as_many_relations_as_before_may_be_others() -> None:
    turned = [(object, type, subject) for subject, type, object in BASE]
    assert "100%" not in (stale(of(BASE), of(BASE)) or "")
    assert "new or gone" in (stale(of(BASE), of(turned)) or "")


def test_what_people_said_since_counts() -> None:
    snapshot, _, labels = odd_ones(true=True)
    assert labels is not None
    without = fingerprint(snapshot, no_labels(snapshot), settings=())
    with_them = fingerprint(snapshot, labels, settings=())
    assert "judged 20" in (stale(without, with_them) or "")
    turned = fingerprint(snapshot, type(labels)(claims=labels.claims, true=~labels.true), settings=())
    assert stale(with_them, turned) is not None, "whoever changed their mind said something else"
