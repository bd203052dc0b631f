"""The phase distill: sessions become memories at night, once, within the budget and in the night's run."""

from pathlib import Path
from typing import Any

import pytest

from hydramem import Memory
from hydramem.core.errors import ModelUnavailableError
from hydramem.ingest.memories.sessions import SaidTurn
from tests.garden.memories import night, opened
from tests.memory_api.test_distill import MOVED, Model, fact

GHENT = fact(MOVED, 1, quote="moved to Ghent")


def say(memory: Memory, session: str, text: str) -> None:
    memory.capture(session, [SaidTurn(author="user", text=text)])


def facts(memory: Memory) -> list[str]:
    return [row.text for row in memory.memories(kinds=["fact"])]


def test_every_session_is_distilled_once_and_a_night_is_undone_whole(tmp_path: Path) -> None:
    model = Model([GHENT], [])
    with opened(tmp_path, model) as memory:
        say(memory, "one", "We moved to Ghent.")
        say(memory, "two", "Nothing new.")
        done = night(memory, "distill")
        (phase,) = done.phases
        assert (done.state, phase.counts["facts"], phase.counts["turns_read"]) == ("completed", 1, 2)
        assert "moved to Ghent" in model.prompts[0], "the session that was quiet longest comes first"
        assert facts(memory) == [MOVED]
        again = night(memory, "distill")
        assert (again.run, len(model.prompts)) == (None, 2)
        assert done.run is not None and memory.undo(done.run).left == ()
        assert facts(memory) == []
        assert night(memory, "distill").run is None and len(model.prompts) == 2


@pytest.mark.parametrize(
    ("replies", "state", "kept"),
    [
        ([ModelUnavailableError("no answer")], "failed", []),
        ([[GHENT], ModelUnavailableError("no answer")], "partial", [MOVED]),
        (["prose", [GHENT]], "partial", [MOVED]),
    ],
    ids=["outage", "late outage", "prose"],
)
def test_a_model_that_fails_is_never_a_success(
    tmp_path: Path, replies: list[Any], state: str, kept: list[str]
) -> None:
    with opened(tmp_path, Model(*replies, [], [])) as memory:
        say(memory, "one", "We moved to Ghent.")
        say(memory, "two", "We moved to Ghent.")
        done = night(memory, "distill")
        assert (done.state, facts(memory)) == (state, kept)
        assert done.phases[0].notes
        assert night(memory, "distill").state == "completed"


def test_what_a_budget_leaves_the_next_night_takes_up(tmp_path: Path) -> None:
    with opened(tmp_path, Model([], []), GARDEN_PHASE_CALLS="1") as memory:
        say(memory, "one", "We moved to Ghent.")
        say(memory, "two", "We moved to Bruges.")
        done = night(memory, "distill")
        assert done.state == "partial"
        assert "1 sessions wait: its 1 model calls are used up." in done.phases[0].notes
        assert night(memory, "distill").phases[0].counts["turns_read"] == 1
