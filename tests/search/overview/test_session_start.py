"""The start of a session: of two versions of one matter the later comes first and quotes the earlier."""

from datetime import timedelta

from hydramem.core.row_types import State
from hydramem.search.overview.session_start import opening
from hydramem.search.visible.visible_graph import view
from tests.graph.graphs import THEN, P
from tests.search.test_other_versions import FIRST, SAME, SECOND, joined
from tests.search.test_recall import Memory


def ids(memory: Memory, states: tuple[State, ...] = ("active",)) -> list[str]:
    return [hit.id for hit in start(memory, states)]


def start(memory: Memory, states: tuple[State, ...] = ("active",)):
    at = THEN + timedelta(days=30)
    seen = view(memory.snapshots.of(P), states=states, at=at, known_at=None)
    return opening(curated=(), seen=seen, graph=memory.graph)


def test_the_later_version_comes_directly_before_the_earlier_and_names_it() -> None:
    plain = Memory(FIRST, SECOND)
    assert ids(plain) == ["second", "first"]  # the fresher one is worth more
    backward = Memory(FIRST, SECOND, joined(FIRST, SECOND))
    assert ids(backward) == ["first", "second"]
    first, second = start(backward)
    assert (first.older.id, first.newer, second.newer.id, second.older) == ("second", None, "first", None)
    assert first.score >= second.score


def test_what_says_the_same_is_one_snippet() -> None:
    assert ids(Memory(FIRST, SAME, joined(SAME, FIRST, "duplicates"))) == ["same"]


def test_a_start_in_the_past_keeps_the_order() -> None:
    memory = Memory(FIRST, SECOND, joined(FIRST, SECOND))
    assert ids(memory, ("active", "superseded")) == ["second", "first"]
