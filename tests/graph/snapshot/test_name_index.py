import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hydramem.graph.snapshot.name_index import NameIndex, Names, Spellings
from hydramem.text.normalize import entity_key


def named(*names: str) -> Names:
    index = NameIndex({entity_key(name): node for node, name in enumerate(names)})
    return Names(index=index, ids=names, size=len(names), spellings=Spellings(names))


def found(names: Names, text: str) -> list[int]:
    return [match.node for match in names.matching(text)]


@pytest.mark.parametrize(
    ("text", "nodes"),
    [
        ("Who leads the Battle of Hastings?", [1]),
        ("is C++ older than C, or C#?", [3, 2, 4]),
        ("Что думает Москва?", [5]),
        ("昨日東京へ行った", [6]),
        ("O'Brien's house near St. Ives", [7, 8]),
        ("a CAFE\u0301 by the sea", [9]),
        ("what was it?", []),
        ("\ud800 hastings \x00", [0]),
    ],
)
def test_finds_the_longest_names(text: str, nodes: list[int]) -> None:
    known = "Hastings,Battle of Hastings,C,C++,C#,Москва,東京,O'Brien,St. Ives,Café,What"
    assert found(named(*known.split(",")), text) == nodes


def test_a_key_goes_before_an_alias_and_later_nodes_are_not_seen() -> None:
    names = NameIndex({})
    names.add(0, "ada lovelace", ["Ada"])
    names.add(1, "ada byron", ["Ada"])
    assert names.find("ada", 2) == (0, "alias")
    names.add(2, "ada", [])
    assert names.find("ada", 2) == (0, "alias")
    assert names.find("ada", 3) == (2, "name")


@given(st.text(max_size=60), st.lists(st.text(min_size=1, max_size=6), max_size=5))
def test_any_text_gives_matches_in_order_that_do_not_overlap(text: str, names: list[str]) -> None:
    matches = named(*names).matching(text)
    ends = [(match.start, match.end) for match in matches]
    assert ends == sorted(ends)
    assert all(one[1] <= other[0] for one, other in itertools.pairwise(ends))
