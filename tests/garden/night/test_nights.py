"""Nights come to rest: a memory that nobody touches is left alone after a few of them, whatever it holds."""

import tempfile
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any, get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hydramem import Memory
from hydramem.core.results.garden_results import Gardened
from hydramem.core.row_types import Phase
from hydramem.core.time import now
from tests.garden.memories import night, opened, put, rows

ENOUGH = 6
"""Nights after which all is done: what one does may give the next a reason, but not for ever."""

PEOPLE = ("Ada Lovelace", "Ada Lovelase", "Bob Stone", "Carol King", "A. Lovelace", "Dan O'Neil")
PLACES = ("Acme Corp", "ACME Corp.", "Globex", "Berlin", "The Berlin Office", "東京")
VERBS = ("works for", "leads", "lives in", "left", "joined", "is a member of", "does not work for")
OPENINGS = ("", "We heard that ", "Since March, ", "No longer true: ", "Update: ")

sentences = st.builds(
    lambda opening, who, verb, where: f"{opening}{who} {verb} {where}.",
    st.sampled_from(OPENINGS),
    st.sampled_from(PEOPLE),
    st.sampled_from(VERBS),
    st.sampled_from(PLACES),
)
Act = Callable[[Memory], object]


def remembers(text: str, *, days: int, scope: str, kind: str) -> Act:
    long_ago = now() - timedelta(days=days)
    return lambda memory: memory.remember(text, scope=scope, kind=kind, happened_at=long_ago, source="chat")


def expires(text: str) -> Act:
    return lambda memory: memory.remember(f"{text} For now.", expires_at=now() + timedelta(milliseconds=1))


def recalls(sessions: int, query: str) -> Act:
    def act(memory: Memory) -> None:
        for number in range(sessions):
            with memory.during(f"chat {number}"):
                memory.recall(query, limit=3)

    return act


def relates(one: str, verb: str, other: str) -> Act:
    return lambda memory: memory.relate(one, verb, other)


def ingests(texts: list[str]) -> Act:
    def act(memory: Memory) -> None:
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "page.md"
            file.write_text("# Page\n\n" + "\n\n".join(texts), encoding="utf-8")
            memory.ingest([str(file)])

    return act


def ages(memory: Memory) -> None:
    """Let everything that is there have been recorded long ago."""
    found, ago = rows(memory), timedelta(days=200)

    def older(given: list[Any]) -> tuple[Any, ...]:
        return tuple(
            replace(row, times=replace(row.times, recorded_at=row.times.recorded_at - ago)) for row in given
        )

    things = tuple(replace(row, last_seen=row.last_seen - ago) for row in found["Entity"])
    put(memory, chunks=older(found["Chunk"]), links=older(found["LINKS"]), entities=things)


acts = st.one_of(
    st.builds(
        remembers,
        sentences,
        days=st.integers(0, 400),
        scope=st.sampled_from(("/", "/work")),
        kind=st.sampled_from(("fact", "event")),
    ),
    st.builds(recalls, st.integers(1, 4), sentences),
    st.builds(relates, st.sampled_from(PEOPLE), st.sampled_from(VERBS[:4]), st.sampled_from(PLACES)),
    st.builds(ingests, st.lists(sentences, min_size=1, max_size=12)),
    st.builds(expires, sentences),
    st.just(ages),
)


def tended(memory: Memory) -> Gardened:
    (report,) = memory.garden(phases=get_args(Phase))
    return report


def proposed(report: Gardened) -> list[tuple[str, str, str]]:
    return [(each.phase, each.action, each.text) for each in report.changes]


def rests(memory: Memory) -> None:
    for _ in range(ENOUGH):
        tended(memory)
    before = rows(memory)
    last = tended(memory)
    assert proposed(last) == []
    assert last.run is None and rows(memory) == before


@settings(max_examples=25)
@given(st.lists(acts, min_size=3, max_size=25))
@pytest.mark.slow
def test_whatever_a_memory_holds_nights_come_to_rest(story: list[Act]) -> None:
    with (
        tempfile.TemporaryDirectory() as folder,
        opened(Path(folder), MEMORY_COGNITIVE="true", GARDEN_DECAY_AFTER_DAYS="1") as memory,
    ):
        for act in story:
            act(memory)
        rests(memory)


@pytest.mark.costly  # loads the package's classifier
def test_copies_are_made_one_in_a_night_and_last_as_long_as_any(memory: Memory) -> None:
    soon = now() + timedelta(days=1)
    for number in range(4):
        memory.remember(f"The spare bike is number 4711{'.' * number}", expires_at=soon if number else None)
    report = night(memory, "merge", "prune")
    assert [(each.action, each.phase) for each in report.changes] == [("merge", "merge")]
    assert "and 2 more are one with" in report.changes[0].text
    (left,) = [row for row in rows(memory)["Chunk"] if row.state == "active"]
    assert left.expires_at is None
    memory.undo(report.run)
    assert [row.state for row in rows(memory)["Chunk"]] == ["active"] * 4
    assert night(memory, "merge", "prune").changes == ()


@pytest.mark.costly  # loads the package's classifier
def test_what_is_told_again_for_good_does_not_expire(tmp_path: Path) -> None:
    with opened(tmp_path, MEMORY_COGNITIVE="true") as memory:
        for text in ("Ada likes tea.", "The spare bike is number 4711"):
            memory.remember(text, expires_at=now() + timedelta(days=1))
        assert memory.remember("Ada likes tea.").action == "duplicate"
        assert memory.remember("The spare bike is number 4711.").action == "duplicate"
        assert [row.expires_at for row in rows(memory)["Chunk"]] == [None, None]
        assert memory.remember("Ada likes tea.", expires_at=now() + timedelta(days=1)).action == "duplicate"
        assert [row.expires_at for row in rows(memory)["Chunk"]] == [None, None]
