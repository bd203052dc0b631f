"""Which names are one but for their spelling, and how the graph joins them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hydramem.graph.snapshot.name_index import Spellings
from hydramem.graph.snapshot.snapshot import EDGE_KINDS, SYNONYM, Snapshot
from hydramem.graph.snapshot.snapshot_writer import SnapshotWriter, load
from hydramem.text.names.name_comparison import spelling
from tests.graph.graphs import P, chunk, entity, mention, tables, write


@pytest.mark.parametrize(
    "names",
    [
        ("Ada Lovelace", "Dr. Ada Lovelace", "Lovelace, Ada", "ada_lovelace", "ADA  LOVELACE"),
        ("Kraków", "Krakow", "KRAKO\u0301W"),
        ("U.S.A.", "USA"),
        ("J. K. Rowling", "J.K. Rowling", "JK Rowling"),
        ("Flask-Migrate", "flask_migrate", "Flask Migrate()"),
        ("O'ahu", "O’ahu", "Oahu"),
        ("St. Mary", "Saint Mary"),
        ("Alphabet", "Alphabet Inc."),
        ("The Brady Bunch", "Brady Bunch"),
    ],
)
def test_one_name_spelled_in_several_ways(names: tuple[str, ...]) -> None:
    assert len({spelling(name) for name in names}) == 1
    assert spelling(names[0]) is not None


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("C++17", "C17"),
        ("Company", "The Company"),
        ("Mary", "St. Mary"),
        ("Hall 3", "Hall 4"),
        ("Майор", "Маиор"),
        ("Baby Doll (film)", "Baby Doll"),
    ],
)
def test_names_that_are_two(one: str, other: str) -> None:
    assert spelling(one) != spelling(other)


@pytest.mark.parametrize("name", ["C#", "東京都", "...", "\ud800"])
def test_names_too_short_or_of_a_script_without_such_rules_have_none(name: str) -> None:
    assert spelling(name) is None


@given(st.lists(st.sampled_from(["Kraków", "Krakow", "krakow!", "Ada", "ADA", "B-52", "B 52", "東京"])))
def test_names_added_one_by_one_and_at_once_share_the_same_first(names: list[str]) -> None:
    grown, pairs = Spellings([]), set()
    for node, name in enumerate(names):
        first = grown.add(node, name)
        if first is not None:
            pairs.add((node, first))
    loaded = Spellings(names)
    assert set(zip(*map(np.ndarray.tolist, loaded.pairs()), strict=True)) == pairs
    assert [loaded.find(name) for name in names] == [grown.find(name) for name in names]


KRAKOW, ACCENTED, ADA = entity("Krakow"), entity("Kraków"), entity("Ada")
PAGE, NOTE = chunk("page"), chunk("note")


def synonyms(snapshot: Snapshot) -> list[tuple[str, str]]:
    rows = np.flatnonzero(snapshot.edges.kind == SYNONYM)
    ends = zip(snapshot.edges.source[rows], snapshot.edges.target[rows], strict=True)
    return [(snapshot.label(int(source)), snapshot.label(int(target))) for source, target in ends]


def test_synonyms_are_joined_when_loaded_and_when_written() -> None:
    loaded = load(P, *tables(KRAKOW, ADA, ACCENTED, PAGE, mention(PAGE, ACCENTED)))
    assert synonyms(loaded) == [("Kraków", "Krakow")]
    assert EDGE_KINDS[SYNONYM] == "synonym"
    growing = SnapshotWriter(P, *tables(KRAKOW, ADA))
    before = growing.snapshot()
    for _ in range(2):
        growing.apply(write(ACCENTED, NOTE, mention(NOTE, ACCENTED)))
    assert synonyms(growing.snapshot()) == [("Kraków", "Krakow")]
    assert synonyms(before) == []


def test_a_name_spelled_otherwise_is_found_last() -> None:
    names = load(P, *tables(KRAKOW, ADA, entity("Ill"), entity("Were"))).names
    found = [(match.text, match.by) for match in names.matching("I'll see KRAKÓW, we're with Ada")]
    assert found == [("kraków", "spelling"), ("ada", "name")]
