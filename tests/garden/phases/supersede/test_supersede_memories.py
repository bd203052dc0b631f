"""Memories that may supersede older ones: a model settles them by night, by words of both of them."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from hydramem import Memory
from hydramem.core.errors import ModelUnavailableError
from hydramem.core.results.garden_results import Gardened
from hydramem.core.row_types import Chunk, Times
from hydramem.llm.scripted_generator import ScriptedGenerator
from tests.garden.memories import night, opened, put, rows
from tests.garden.rows import entity, note
from tests.storage.rows import link, mention

OLD = note("c_old", "The herd grazes on the <north> slope.", 1)
NEW = note("c_new", "The herd grazes on the south slope.", 8)
MAYBE = link("c_new", "c_old", id="l_1", type="may_supersede", weight=0.7)


@contextmanager
def filled(
    folder: Path, script: Any = None, *, pair: tuple[Chunk, Chunk] = (OLD, NEW), **settings: str
) -> Iterator[Memory]:
    """Open a memory of two memories with a link that waits; `script` is what its model says."""
    slope = entity("e_s", "north slope", mention_count=1)
    with opened(folder, script, **settings) as memory:
        put(memory, chunks=pair, links=(MAYBE,), entities=(slope,), mentions=(mention("c_old", "e_s"),))
        yield memory


def reply(verdict: str, **values: object) -> dict[str, object]:
    given = {"index": 1, "verdict": verdict, "older_quote": "<north> slope", "newer_quote": "south slope"}
    return {"pairs": [given | values]}


def states(memory: Memory) -> dict[str, str]:
    held = rows(memory)
    return {row.id: row.state for row in (*held["Chunk"], *held["LINKS"])}


OPEN = {"c_old": "active", "c_new": "active", "l_1": "active"}


def test_what_a_model_calls_a_replacement_ends_with_history(tmp_path: Path) -> None:
    with filled(tmp_path, [reply("REPLACES"), reply("CONTRADICTION")]) as memory:
        before = rows(memory)
        report = night(memory, "supersede")
        (change,) = report.changes
        assert (change.target, change.phase, change.score) == ("c_old", "supersede", pytest.approx(0.7))
        assert change.text.endswith(f'gives way to "{NEW.text}"')
        assert "scripted" in change.reason
        old, new = memory.get("c_old"), memory.get("c_new")
        assert (old.state, old.metadata["superseded_by"]) == ("superseded", "c_new")
        assert old.times.valid_to == new.times.valid_from == NEW.times.recorded_at
        assert [(link.type, link.state) for link in rows(memory)["LINKS"] if link.id != "l_1"] == [
            ("supersedes", "active")
        ]
        assert states(memory)["l_1"] == "superseded"
        [slope] = rows(memory)["Entity"]
        assert slope.mention_count == 0
        memory.undo(report.run)
        assert rows(memory) == before
        assert night(memory, "supersede").phases[0].proposals == 0, "what was undone is not done again"


@pytest.mark.parametrize("second", [None, ModelUnavailableError("timed out")])
def test_a_second_answer_that_did_not_come_is_asked_for_in_the_next_night(
    tmp_path: Path, second: object
) -> None:
    first = [reply("REPLACES"), *([] if second is None else [second])]
    with filled(tmp_path, first, GARDEN_PHASE_CALLS="1" if second is None else "50") as memory:
        assert night(memory, "supersede").phases[0].state == "partial"
        assert states(memory) == OPEN
        memory._given_generator = ScriptedGenerator([reply("CONTRADICTION")])
        night(memory, "supersede")
        assert states(memory)["c_old"] == "superseded"


def test_both_settles_the_link_alone(tmp_path: Path) -> None:
    with filled(tmp_path, [reply("BOTH")]) as memory:
        report = night(memory, "supersede")
        assert states(memory) == OPEN | {"l_1": "superseded"}
        assert memory.review().waiting == 0
        assert report.phases[0].counts["memories_ended"] == 0


@pytest.mark.parametrize(
    "script",
    [
        [reply("UNSURE")],
        [reply("REPLACES", older_quote="another slope")],
        [{"pairs": reply("REPLACES")["pairs"] * 2}],
        [{"pairs": []}],
        [reply("REPLACES"), reply("COMPATIBLE"), reply("OUTDATED")],
        [reply("REPLACES"), reply("CONTRADICTION", index=2), reply("OUTDATED")],
    ],
)
def test_what_is_unsure_or_cannot_be_checked_or_two_of_three_say_is_asked_of_a_person(
    tmp_path: Path, script: list[object]
) -> None:
    with filled(tmp_path, script) as memory:
        report = night(memory, "supersede")
        assert states(memory) == OPEN
        assert report.phases[0].state == "completed"
        assert memory.review().waiting == 1
        assert night(memory, "supersede").phases[0].state == "completed", "the model is not asked again"


@pytest.mark.parametrize("answer", [ModelUnavailableError("timed out"), reply("REPLACED"), "They are."])
def test_a_model_that_fails_ends_nothing_and_is_said(tmp_path: Path, answer: object) -> None:
    with filled(tmp_path, [answer]) as memory:
        (phase,) = night(memory, "supersede").phases
        assert phase.state == "partial"
        assert any("model" in note for note in phase.notes)
        assert states(memory) == OPEN


LATER = Times(recorded_at=OLD.times.recorded_at, valid_from=datetime(2025, 3, 20, tzinfo=UTC))


@pytest.mark.parametrize(
    "pair",
    [
        (replace(OLD, layer="verified"), NEW),
        (replace(OLD, times=LATER), NEW),
        (OLD, replace(NEW, times=replace(NEW.times, valid_to=datetime(2999, 1, 1, tzinfo=UTC)))),
        (replace(OLD, text=f"{OLD.text} {'It is green there. ' * 90}"), NEW),
    ],
    ids=["verified", "begins later", "for a time", "too long to show"],
)
def test_what_only_a_person_may_end_is_not_shown(tmp_path: Path, pair: tuple[Chunk, Chunk]) -> None:
    with filled(tmp_path, [], pair=pair) as memory:
        report: Gardened = night(memory, "supersede")
        assert report.phases[0].state == "completed"
        assert states(memory) == OPEN
        assert memory.review().waiting == 1


def test_the_prompt_shows_both_with_dates_and_escaped(tmp_path: Path) -> None:
    seen: list[str] = []

    def answer(prompt: object) -> dict[str, object]:
        seen.append(prompt.text)
        return reply("UNSURE")

    with filled(tmp_path, answer) as memory:
        night(memory, "supersede")
    (text,) = seen
    assert '<older said="2025-03-01">The herd grazes on the &lt;north&gt; slope.</older>' in text
    assert '<newer said="2025-03-08">The herd grazes on the south slope.</newer>' in text
