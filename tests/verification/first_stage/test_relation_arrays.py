"""Relations as sorted arrays, against plain dictionaries and sets."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hydramem.graph.snapshot.snapshot_writer import load
from hydramem.verification.first_stage.relation_arrays import (
    begins,
    counted,
    distinct,
    found,
    from_triples,
    joined,
    lay_out,
    taken,
)
from tests.examples import FEW
from tests.graph.graphs import P, chunk, entity, mention, relation, tables

SIZE, TYPES, KINDS = 6, 3, 3
KIND = np.array([0, 1, 0, 1, 1, 0])
Triple = tuple[int, int, int]

keys = st.lists(st.integers(0, 9), max_size=20).map(lambda each: np.array(each, dtype=np.int64))
triples = st.tuples(st.integers(0, SIZE - 1), st.integers(0, TYPES - 1), st.integers(0, SIZE - 1))
graphs = st.lists(triples, max_size=20)


@FEW
@given(keys, keys)
def test_keys_are_counted_and_found_as_in_a_dictionary(given_keys, wanted) -> None:
    often, ordered = Counter(given_keys.tolist()), sorted(set(given_keys.tolist()))
    assert distinct(given_keys).tolist() == ordered
    assert np.sort(given_keys)[begins(np.sort(given_keys))].tolist() == ordered
    known = counted(given_keys)
    assert dict(zip(known.keys.tolist(), known.counts.tolist(), strict=True)) == often
    assert known.of(wanted).tolist() == [often[key] for key in wanted.tolist()]
    places = [ordered.index(key) if key in ordered else -1 for key in wanted.tolist()]
    assert found(np.array(ordered, dtype=np.int64), wanted).tolist() == places


@FEW
@given(graphs)
def test_triples_laid_out_are_the_distinct_ones_between_different_nodes(given_triples: list[Triple]) -> None:
    subject, type, object = np.array(given_triples, dtype=np.int64).reshape(-1, 3).T
    facts = from_triples(subject, type, object, types=TYPES + 1, kind=KIND, kinds=KINDS)
    known = {triple for triple in given_triples if triple[0] != triple[2]}
    laid = list(zip(facts.subject.tolist(), facts.type.tolist(), facts.object.tolist(), strict=True))
    assert sorted(laid) == sorted(known)
    assert laid == sorted(laid, key=lambda triple: (triple[1], triple[0], triple[2]))
    near = {(one, other) for one, _, other in known} | {(other, one) for one, _, other in known}
    nodes = np.arange(SIZE)
    assert facts.degrees(nodes).tolist() == [sum(pair[0] == node for pair in near) for node in range(SIZE)]
    labels = Counter((one, other, 2 * type) for one, type, other in known)
    labels += Counter((other, one, 2 * type + 1) for one, type, other in known)
    for one in range(SIZE):
        for other in range(SIZE):
            (row,) = facts.pairs(np.array([one]), np.array([other])).tolist()
            assert (row >= 0) == ((one, other) in near)
            if row >= 0:
                assert facts.neighbors[row] == other
                assert facts.starts[one] <= row < facts.starts[one + 1]
                here = facts.labels[facts.label_starts[row] : facts.label_starts[row + 1]].tolist()
                assert here == sorted(label for a, b, label in labels if (a, b) == (one, other))
    for code in range(TYPES + 1):
        of_type = [triple for triple in known if triple[1] == code]
        assert facts.per_type[code] == len(of_type)
        assert facts.heads_per_type[code] == len({triple[0] for triple in of_type})
        assert facts.tails_per_type[code] == len({triple[2] for triple in of_type})
        for node in range(SIZE):
            key = np.array([code * SIZE + node])
            assert facts.heads.of(key) == sum(triple[0] == node for triple in of_type)
            assert facts.tails.of(key) == sum(triple[2] == node for triple in of_type)
            begin, end = facts.objects(np.array([code]), np.array([node]))
            objects = [triple[2] for triple in of_type if triple[0] == node]
            assert (facts.triple_keys[begin[0] : end[0]] % SIZE).tolist() == sorted(objects)
            begin, end = facts.subjects(np.array([code]), np.array([node]))
            subjects = [triple[0] for triple in of_type if triple[2] == node]
            assert (facts.turned_keys[begin[0] : end[0]] % SIZE).tolist() == sorted(subjects)
    assert facts.leaving.tolist() == [sum(triple[0] == node for triple in known) for node in range(SIZE)]
    assert facts.arriving.tolist() == [sum(triple[2] == node for triple in known) for node in range(SIZE)]
    kinds = Counter((KIND[one], KIND[other]) for one, _, other in known)
    typed = Counter((type, KIND[one], KIND[other]) for one, type, other in known)
    for one in range(KINDS):
        for other in range(KINDS):
            couple = facts.couple(np.array([one]), np.array([other]))
            assert facts.couples.of(couple) == kinds[one, other]
            for code in range(TYPES):
                assert facts.signatures.of(code * KINDS * KINDS + couple) == typed[code, one, other]


@FEW
@given(graphs, st.lists(triples, min_size=1, max_size=5))
def test_claims_are_known_where_they_are_triples(given_triples: list[Triple], asked: list[Triple]) -> None:
    subject, type, object = np.array(given_triples, dtype=np.int64).reshape(-1, 3).T
    facts = from_triples(subject, type, object, types=TYPES + 1, kind=KIND, kinds=KINDS)
    subject, type, object = np.array(asked, dtype=np.int64).T
    claims = facts.claims(subject, type, object)
    known = {triple for triple in given_triples if triple[0] != triple[2]}
    assert facts.stored(claims).tolist() == [triple in known for triple in asked]
    assert claims.subject_kind.tolist() == KIND[subject].tolist()
    assert claims.object_kind.tolist() == KIND[object].tolist()
    first, rest = taken(claims, np.arange(len(asked)) < 1), taken(claims, np.arange(1, len(asked)))
    again = joined([first, rest])
    for column in ("subject", "type", "object", "subject_kind", "object_kind"):
        assert getattr(again, column).tolist() == getattr(claims, column).tolist()
        assert getattr(first, column).tolist() == getattr(claims, column).tolist()[:1]


@pytest.mark.parametrize(
    ("values", "laid"),
    [
        ({}, 1),
        ({"state": "archived"}, 0),
        ({"state": "superseded"}, 0),
        ({"origin": "inferred"}, 0),
        ({"origin": "asserted"}, 1),
    ],
)
def test_only_active_relations_that_something_states_are_laid_out(
    values: dict[str, object], laid: int
) -> None:
    ada, billing, note = entity("Ada"), entity("billing"), chunk("c")
    rows = [ada, billing, note, mention(note, ada), mention(note, billing)]
    facts = lay_out(load(P, *tables(*rows, relation(ada, "leads", billing, **values))))
    assert len(facts.subject) == laid
    assert facts.size == 3
    assert facts.types == len(facts.per_type) >= 2
    assert facts.kinds > facts.kind.max()
