"""Changes past their time go run by run, undo says so, and what a person took back stays so."""

from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from hydramem import Memory
from hydramem.core.errors import InvalidInputError, NotFoundError
from hydramem.garden.night.apply import WriteAccess, apply
from hydramem.garden.phases.prune import past_retention
from hydramem.garden.proposals.phase_context import PhaseWork
from hydramem.storage.changes import PURGED, acting_as, in_one_run, purges, record
from hydramem.storage.jobs import job
from hydramem.storage.schema import CHANGE
from hydramem.storage.write import Removal, Write
from tests.garden.memories import night, opened, put, rows
from tests.garden.rows import chunk, entity

KEPT = {"LIMITS_CHANGE_DAYS": "30"}


def age(memory: Memory, days: float, *runs: str) -> None:
    """Let the changes of some runs be older, or all of them."""
    graph = memory._use().graph
    held = [row for part in graph.scan(CHANGE) for row in part if not runs or row.run in runs]
    ids = tuple(row.id for row in held)
    aged = tuple(replace(row, at=row.at - timedelta(days=days)) for row in held)
    graph.write(Write(changes=aged[:1], removed=Removal(changes=ids), verbatim=True))
    graph.write(Write(changes=aged, verbatim=True))


def left(memory: Memory) -> set[str | None]:
    return {row.run for row in memory._use().graph.changes()}


def run_of(memory: Memory, text: str) -> str:
    done = memory.remember(text)
    memory.drain()
    return str(memory.history(done.id).entries[0].run)


def test_old_runs_go_whole_and_undo_says_so(tmp_path: Path) -> None:
    with opened(tmp_path, **KEPT) as memory:
        old = run_of(memory, "Ada Lovelace leads Billing.")
        straddling = run_of(memory, "Carl Sun leads Shipping.")
        age(memory, 40)
        with in_one_run(straddling):
            memory.promote([memory.memories()[0].id], layer="shared", reason="sure")
        new = run_of(memory, "Eve Stone leads Sales.")
        before, (was,) = rows(memory), [use for use in memory.stats().limits if use.limit == "change_days"]
        assert was.over and was.used == len(memory._use().graph.changes(run=old))
        report = night(memory, "prune")
        [change] = report.changes
        assert change.target == PURGED and "of 1 run, the last" in change.text
        assert rows(memory) == before, "no row goes with it"
        assert left(memory) == {straddling, new, report.run}
        [(told, gone)] = purges(memory._use().graph)
        assert (gone.changes, gone.runs, told.run, told.image) == (was.used, 1, report.run, None)
        assert not any(use.over for use in memory.stats().limits)
        with pytest.raises(NotFoundError, match="are gone"):
            memory.undo(old)
        with pytest.raises(NotFoundError, match="are gone"):
            memory.split("Nobody")
        assert memory.undo(straddling).removed
        with pytest.raises(InvalidInputError, match="gone for good"):
            memory.undo(str(report.run))
        assert night(memory, "prune").phases[0].proposals == 0


def test_nothing_goes_without_a_limit(memory: Memory) -> None:
    memory.remember("Ada leads Billing.")
    age(memory, 4000)
    before = left(memory)
    assert night(memory, "prune").phases[0].proposals == 0 and left(memory) == before
    with pytest.raises(NotFoundError, match="has this id"):
        memory.undo("w_nothing")


def test_a_run_that_goes_on_stays(tmp_path: Path) -> None:
    with opened(tmp_path, **KEPT) as memory:
        run = run_of(memory, "Ada leads Billing.")
        with in_one_run(run), acting_as("test"):
            waiting = replace(job("link", project="default", chunk="c_nothing"), state="failed")
        put(memory, jobs=(waiting,))
        age(memory, 40)
        night(memory, "prune")
        assert run in left(memory), "a job still writes in it"


def test_what_was_undone_is_not_as_if_it_stood(tmp_path: Path) -> None:
    with opened(tmp_path, **KEPT) as memory:
        run = run_of(memory, "Ada leads Billing.")
        undone = memory.undo(run).run
        age(memory, 40)
        with in_one_run(run):
            memory.remember("It goes on.")
        night(memory, "prune")
        assert {run, undone} <= left(memory)
        age(memory, 40)
        night(memory, "prune")
        assert run not in left(memory) and undone in left(memory)
        night(memory, "prune")
        assert undone not in left(memory)


def test_what_a_person_took_back_is_remembered_beyond_the_history(tmp_path: Path) -> None:
    bare = entity("e_1", "Nobody")
    with opened(tmp_path, **KEPT) as memory:
        put(memory, entities=(bare,))
        report = night(memory, "prune")
        assert [each.text for each in report.changes] == ["Nobody"]
        memory.undo(str(report.run))
        assert "Nobody" not in {each.text for each in night(memory, "prune").changes}
        for _ in range(6):  # the run, then its undo, then the nights that tell of it
            age(memory, 40)
            told = night(memory, "prune")
            assert "Nobody" not in {each.text for each in told.changes}
        assert report.run not in left(memory) and not memory._use().graph.changes(operation="undo")
        assert [row.id for row in rows(memory)["Entity"]] == ["e_1"]


def test_a_run_too_large_for_one_write_cannot_be_undone_by_halves(tmp_path: Path) -> None:
    with opened(tmp_path, **KEPT) as memory:
        many = [chunk(f"c{number}", f"Memory {number}.") for number in range(450)]
        with in_one_run() as run:
            changes = tuple(record("test", project="default", target=row.id, after=row) for row in many)
            memory._use().mirror.commit(Write(changes=changes, chunks=tuple(many)))
        age(memory, 40)
        store = memory._use()
        context = memory._garden_run("default", ("prune",), None).context("prune")
        parts = past_retention.old_changes(PhaseWork(context))
        own = [part for part in parts if part.told["purged"]["part_of"] == run]
        assert len(own) > 1 and all(len(part.write.removed.changes) <= 200 for part in own)
        access = WriteAccess(
            graph=store.graph, commit=store.mirror.commit, one_writer=store.mirror.one_writer
        )
        with in_one_run():
            assert apply(own[:1], access, run="w_night").made == (own[0].id,)
            assert apply(own[:1], access, run="w_night").standing == (own[0].id,), "it happens once"
        before = rows(memory)
        with pytest.raises(InvalidInputError, match="part of it is gone"):
            memory.undo(run)
        assert rows(memory) == before
        night(memory, "prune")
        assert run not in left(memory)


def test_what_was_purged_stays_so_in_a_dump(tmp_path: Path) -> None:
    with opened(tmp_path / "one", **KEPT) as memory:
        run = run_of(memory, "Ada leads Billing.")
        age(memory, 40)
        memory.remember("Carl leads Shipping.")
        memory.drain()
        night(memory, "prune")
        memory.dump(str(tmp_path / "dump"))
        held, told = rows(memory), left(memory)
    with opened(tmp_path / "other") as memory:
        memory.load(str(tmp_path / "dump"))
        assert rows(memory) == held and told <= left(memory)
        with pytest.raises(NotFoundError, match="are gone"):
            memory.undo(run)


def test_changes_of_a_project_of_which_nothing_else_is_left_go_too(tmp_path: Path) -> None:
    with opened(tmp_path, **KEPT) as memory:
        graph = memory._use().graph
        graph.write(Write(changes=(record("test", project="emptied", target="x"),), verbatim=True))
        age(memory, 40)
        run_of(memory, "Ada Lovelace leads Billing.")
        assert {night.project for night in memory.garden(all_projects=True)} == {"default", "emptied"}
        assert [row.target for row in graph.changes(project="emptied")] == [PURGED]
        assert {night.project for night in memory.garden(all_projects=True)} == {"default"}
