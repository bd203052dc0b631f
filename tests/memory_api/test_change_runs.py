"""The audit as a list of runs: found by who, when and what, and undone."""

import pytest

import hydramem
from hydramem.core.errors import InvalidInputError
from hydramem.core.time import now


def test_a_run_is_found_and_undone(memory: hydramem.Memory) -> None:
    kept = memory.remember("Ada leads the harbour team.", kind="note")
    begun = now()
    wrong = memory.remember("Birch runs the ferry office.", kind="note")
    (line, *older) = memory.changes()
    assert "Birch runs the ferry office." in line.about and not line.undone
    assert line.operations == ("remember",) and line.actors == ("python",) and line.projects == ("default",)
    assert [run.run for run in memory.changes(since=begun)] == [line.run]
    assert [run.run for run in memory.changes(until=begun)] == [run.run for run in older]
    undo = memory.undo(line.run)
    assert memory.get(kept.id).state == "active"
    assert [memory.id for memory in memory.memories()] == [kept.id] != [wrong.id]
    assert memory.changes(run=line.run)[0].undone
    memory.undo(undo.run)
    assert not memory.changes(run=line.run)[0].undone
    assert [run.operations for run in memory.changes(operation="undo")] == [("undo",), ("undo",)]


def test_runs_of_other_projects_are_listed_on_request(memory: hydramem.Memory) -> None:
    memory.remember("Crate " + "seven " * 400, project="work")
    assert memory.changes() == ()
    (run,) = memory.changes(project="work")
    assert (run,) == memory.changes(every_project=True) and len(run.about) <= 80
    assert memory.changes(actor="nobody", every_project=True) == memory.changes(run="w_none") == ()
    with pytest.raises(InvalidInputError, match="since"):
        memory.changes(since="no time")
