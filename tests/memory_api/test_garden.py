"""Nights as a person has them: on a terminal, in Python, on the system's clock."""

import json
import re
import stat
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import get_args

import pytest

import hydramem
from hydramem import garden
from hydramem.cli.commands import garden_command
from hydramem.cli.garden_output import COUNTS, lines
from hydramem.cli.main import run
from hydramem.core.errors import InvalidInputError, NotFoundError, StorageError, StoreBusyError
from hydramem.core.results.garden_results import (
    Gardened,
    PhaseReport,
    ProposedChange,
    QuestionKind,
    RefusedChange,
)
from hydramem.core.row_types import Decision
from hydramem.garden.night.run_phases import UNFINISHED
from tests.engines import DISK_ENGINE, ENGINE
from tests.memory_api.conftest import rows, settings


def fill(memory: hydramem.Memory) -> None:
    memory.remember("Ada Lovelace leads the billing service.", valid_from="2024-01-01")
    memory.relate("billing", "led_by", "Ada Lovelace", valid_from="2024-01-01")
    memory.relate("billing", "led_by", "Bob Stone", evidence=(), valid_from="2025-01-01", confidence=0.4)
    memory.remember("It will expire.", expires_at="2020-01-01")
    memory.drain()


@pytest.mark.engine
@pytest.mark.costly
@pytest.mark.parametrize("memory", [DISK_ENGINE], indirect=True)
def test_a_planned_night_changes_nothing_and_an_undone_one_has_not_happened(
    memory: hydramem.Memory, tmp_path: Path
) -> None:
    fill(memory)
    before = rows(memory)
    file = tmp_path / "plan.jsonl"
    [planned] = memory.garden(plan=True, out=str(file))
    assert planned.state == "planned" and rows(memory) == before
    [done] = memory.garden(apply=str(file))
    made = sum(phase.applied for phase in done.phases)
    for phase in done.phases:
        parts = (phase.applied, phase.refused, phase.standing, phase.dropped, phase.left)
        assert phase.proposals == sum(parts), phase
    assert made == len(planned.changes) - len(done.refused)
    assert (rows(memory) == before) == (made == 0)
    if done.run is not None:
        memory.undo(done.run)
        assert rows(memory) == before
    [status] = memory.garden(status=True)
    assert (status.run, status.phases) == (done.run, done.phases)
    assert status.taken_back == (done.run is not None)


def test_a_kept_plan_is_applied_by_its_id_without_the_changes_that_are_left_out(
    memory: hydramem.Memory,
) -> None:
    fill(memory)
    memory.remember("It will expire as well.", expires_at="2020-01-02")
    before = rows(memory)
    [planned] = memory.garden(plan=True, keep=True)
    assert planned.plan is not None and planned.run is None and rows(memory) == before
    first, *others = [change.id for change in planned.changes]
    assert others
    [done] = memory.garden(apply_kept=planned.plan, leave_out=[first])
    assert (done.plan, done.run) == (planned.plan, planned.plan)
    assert {change.id for change in done.changes} == set(others)
    assert done.notes == ("1 change of the plan left out.",)
    assert done.run is not None
    memory.undo(done.run)
    assert rows(memory) == before
    [again] = memory.garden(apply_kept=planned.plan)
    assert again.run not in (None, done.run)
    newest, oldest = memory.garden(status=True, limit=5)
    assert (newest.run, oldest.run) == (again.run, done.run)
    assert (newest.taken_back, oldest.taken_back) == (False, True)


def test_the_last_five_plans_are_kept_and_no_id_leads_elsewhere(memory: hydramem.Memory) -> None:
    kept = [memory.garden(plan=True, keep=True, phases=["prune"])[0].plan for _ in range(6)]
    for id in (kept[0], "w_missing", "../seal", "", "a" * 5000):
        with pytest.raises((NotFoundError, InvalidInputError)):
            memory.garden(apply_kept=id)
    assert memory.garden(apply_kept=kept[1])[0].run is None
    with pytest.raises(InvalidInputError, match="the plan has no change 'other'"):
        memory.garden(apply_kept=kept[2], leave_out=["other"])


def test_options_that_do_not_go_together(memory: hydramem.Memory) -> None:
    kept = {"apply_kept": "w_a"}
    wrong: list[dict[str, object]] = [
        *({"keep": True}, {"leave_out": ["a"]}, {"plan": True, "leave_out": ["a"]}, {"plan": True, **kept}),
        *({"apply": "file", **kept}, {**kept, "all_projects": True}, {"plan": True, "status": True}),
        *({"out": "x"}, {"phases": ("sleep",)}),
    ]
    for options in wrong:
        with pytest.raises(InvalidInputError):
            memory.garden(**options)  # type: ignore[arg-type]
    with pytest.raises(InvalidInputError, match="cannot be read"):
        memory.garden(apply="nowhere.jsonl")


def test_a_plan_takes_the_place_of_a_plan_and_of_nothing_else(
    memory: hydramem.Memory, tmp_path: Path
) -> None:
    (tmp_path / "empty").write_text("")
    for name in ("new", "empty", "new"):
        [planned] = memory.garden(plan=True, out=str(tmp_path / name))
        assert (
            planned.file == str(tmp_path / name) and "hydramem-garden-plan" in Path(planned.file).read_text()
        )
    (notes := tmp_path / "notes.md").write_text("mine")
    for place in (notes, tmp_path, "a\0b", "a" * 5000):
        with pytest.raises((InvalidInputError, StorageError), match=r"no plan|is there|cannot be"):
            memory.garden(plan=True, out=str(place))
    assert notes.read_text() == "mine"


def test_every_project_is_tended_and_two_nights_at_once_are_one_too_many(memory: hydramem.Memory) -> None:
    memory.remember("One.", project="one")
    memory.remember("Two.", project="two")
    assert {night.project for night in memory.garden(all_projects=True)} == {"one", "two"}
    with memory._use().one_garden_run, pytest.raises(StoreBusyError, match="another run"):
        memory.garden()


# On a terminal -----------------------------------------------------------------------------------


@pytest.fixture
def shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    """Commands on an empty memory, of which nothing outlasts a command."""
    home = str(tmp_path / "store")
    for name, value in (("STORAGE_GRAPH", ENGINE), ("EMBEDDING_MODEL", "hash"), ("HOME", home)):
        monkeypatch.setenv(f"HYDRAMEM_{name}", value)

    def words(*tokens: str) -> tuple[int, str, str]:
        code = run(tokens)
        return code, *capsys.readouterr()

    return words


@pytest.fixture
def cron(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A system with cron alone, whose table is a file."""
    table, program = tmp_path / "table", tmp_path / "bin" / "crontab"
    program.parent.mkdir()
    program.write_text(
        f'#!/bin/sh\nif [ "$1" = -l ]; then\n  [ -f {table} ] || {{ echo "no crontab" >&2; exit 1; }}\n'
        f"  /bin/cat {table}\nelse\n  /bin/cat > {table}\nfi\n"
    )
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", str(program.parent))
    return table


def test_a_night_that_is_interrupted_says_what_becomes_of_it(capsys: pytest.CaptureFixture[str]) -> None:
    def interrupted(*, plan: bool = False, invocation: object) -> None:
        raise KeyboardInterrupt

    for options, told in (({}, "the next run makes them"), ({"plan": True}, "")):
        with pytest.raises(KeyboardInterrupt):
            garden_command.with_schedule(interrupted)(invocation=None, **options)
        assert told in (err := capsys.readouterr().err) and bool(err) == bool(told)


@pytest.mark.costly  # the status is of the night of another command
def test_a_night_reads_well(shell, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HYDRAMEM_STORAGE_GRAPH", DISK_ENGINE)
    assert shell("remember", "Ada leads billing.")[0] == 0
    code, out, _ = shell("garden", "--status")
    assert code == 0 and "the gardener has not run yet" in out and "--plan" in out
    code, out, _ = shell("garden")
    assert code == 0 and out.startswith("default: the run of ") and "nothing was changed" in out
    code, status, _ = shell("garden", "--status")
    assert code == 0 and status.startswith(out), "it reads the same on the next day"
    assert "waiting after each run:" in status.removeprefix(out)
    code, status, _ = shell("garden", "--status", "--verbose")
    assert code == 0
    assert "  supersede nothing to change; 1 memory compared with older ones\n" in status
    code, out, _ = shell("garden", "--plan")
    assert code == 0 and "a plan, made in" in out and "nothing is changed" in out


def test_a_night_says_what_became_of_everything_and_what_comes_next() -> None:
    prune = PhaseReport(
        phase="prune", state="partial", proposals=9, applied=2, refused=1, standing=3, dropped=1, left=2,
        counts={"memories_expired": 3, "links_loose": 0}, notes=("Its time is over.",),
    )  # fmt: skip
    old = ProposedChange(id="p", phase="prune", action="archive", target="c", text="A memory", reason="Old.")
    night = Gardened(
        project="notes", run="w_1", state="partial",
        started_at=datetime(2025, 5, 1, 3, tzinfo=UTC), seconds=2.0,
        phases=(
            PhaseReport(phase="merge", state="failed", notes=("It broke.",)),
            prune,
            PhaseReport(phase="review", state="completed", counts={"waiting": 2, "conflict": 1}),
        ),
        changes=(old,) * 9,
        refused=(RefusedChange(id="p_9", text="Memory 9", why="c was changed since the plan was made"),),
    )  # fmt: skip
    assert [line for line, _ in lines(night, verbose=True, most=1)] == [
        "notes: the run of 2025-05-01 03:00 UTC, done in part, in 2.0 s, run w_1",
        "  merge     failed",
        "            It broke.",
        "  prune     partial: 9 changes: 2 made, 1 refused, 3 there already, 3 left to the next run; "
        "3 memories have expired",
        "            Its time is over.",
        "  review    2 questions wait for a person, 1 conflict",
        "  archive  A memory: Old.",
        "  and 7 others (--json lists the first 1,000)",
        "  refused  Memory 9: c was changed since the plan was made",
        "  1 change refused, as rows changed: the next run looks again",
        "  to answer 2 questions: hydramem review",
        "  to undo all of it: hydramem undo w_1",
    ]
    said = [line for line, _ in lines(replace(night, taken_back=True))]
    assert said[0].endswith(", run w_1, undone since") and not any("hydramem undo" in line for line in said)


def test_every_count_has_its_words(memory: hydramem.Memory) -> None:
    sources = Path(str(garden.__file__)).parent.rglob("*.py")
    told = {name for file in sources for name in re.findall(r'counts\["([^"]+)"', file.read_text())}
    told |= {*get_args(QuestionKind), *get_args(Decision), "waiting"}
    fill(memory)
    told |= {name for phase in memory.garden()[0].phases for name in phase.counts}
    assert told - COUNTS.keys() == {"bytes_backed_up"}
    assert all(re.fullmatch("[a-z_]+", name) for name in told), "programs read them"


def test_schedules_are_installed_beside_what_is_there_and_taken_out(shell, cron: Path) -> None:
    cron.write_text(others := "0 1 * * * backup # nightly\n")
    every = ("garden", "--install-schedule")
    code, out, _ = shell(*every, "0 3 * * *", "--print")
    assert code == 0 and "0 3 * * *" in out and cron.read_text() == others
    for _ in range(2):
        assert shell(*every, "0 3 * * *")[0] == 0
    ours = cron.read_text().removeprefix(others)
    assert ours.startswith("0 3 * * * ") and " garden --wait --all-projects # hydramem-garden-" in ours
    assert ours.count("\n") == 1
    assert shell(*every, "0 4 * * sun", "--phases", "merge", "--phases", "prune")[0] == 0
    assert shell("--project", "100%", *every, "0 5 * * *", "--phases", "maintain")[0] == 0
    assert len(cron.read_text().splitlines()) == 4
    code, out, _ = shell("garden", "--schedules", "--json")
    assert code == 0
    found = {row["times"]: row["command"] for row in json.loads(out)}
    assert set(found) == {"0 3 * * *", "0 4 * * sun", "0 5 * * *"}
    assert found["0 4 * * sun"].endswith("garden --wait --all-projects --phases merge --phases prune")
    assert "--project 100% " in found["0 5 * * *"]
    assert shell("garden", "--uninstall-schedule", "--phases", "prune")[0] == 0
    assert len(cron.read_text().splitlines()) == 4, "no schedule has this phase alone"
    assert shell("garden", "--uninstall-schedule", "--phases", "merge", "--phases", "prune")[0] == 0
    assert len(cron.read_text().splitlines()) == 3
    for _ in range(2):
        assert shell("garden", "--uninstall-schedule")[0] == 0
    assert "maintain" in cron.read_text() and cron.read_text().startswith(others)
    assert "0 3" not in cron.read_text()


def test_a_first_crontab_is_made_of_what_is_a_schedule(shell, cron: Path) -> None:
    for options, told in (
        (("--install-schedule", "daily"), "no cron expression"),
        (("--install-schedule", "0 3 * * *", "--uninstall-schedule"), "at a time"),
        (("--install-schedule", "0 3 * * *", "--plan"), "--plan is not kept"),
        (("--print",), "--install-schedule"),
    ):
        code, _, err = shell("garden", *options)
        assert code == 1 and told in err and not cron.exists()
    assert shell("garden", "--install-schedule", "15 2 * * sun")[0] == 0
    assert cron.read_text().startswith("15 2 * * sun ")


def test_without_a_clock_the_error_says_what_to_do(shell, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path / "nothing"))
    code, _, err = shell("garden", "--install-schedule", "0 3 * * *")
    assert code == 1 and "crontab" in err and "--print" in err
    assert shell("garden", "--uninstall-schedule")[0] == 0, "nothing is there to take out"


def test_wait_waits_for_the_night_that_goes_on(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A night that is busy for two tries: the command is run again, and its wait is told once."""
    begun = iter([StoreBusyError("another run"), StoreBusyError("another run"), None, StoreBusyError("it")])

    def night(*, invocation: object) -> None:
        if error := next(begun):
            raise error

    monkeypatch.setattr(garden_command, "_RETRY_SECONDS", 0.0)
    garden_command.with_schedule(night)(invocation=None, wait=True)
    assert capsys.readouterr().err.splitlines() == ["hydramem: waiting: another run"]
    with pytest.raises(StoreBusyError, match="`hydramem garden --wait` waits for it"):
        garden_command.with_schedule(night)(invocation=None)


def test_a_plan_that_was_taken_back_is_made_anew_as_another_run_in_its_own_store(
    memory: hydramem.Memory, tmp_path: Path
) -> None:
    fill(memory)
    before, file = rows(memory), tmp_path / "plan.jsonl"
    memory.garden(plan=True, out=str(file))
    with (
        hydramem.connect(tmp_path / "other", config=settings()) as other,
        pytest.raises(InvalidInputError, match="another store"),
    ):
        other.garden(apply=str(file))
    [first] = memory.garden(apply=str(file))
    [again] = memory.garden(apply=str(file))
    assert again.run == first.run is not None, "it stands as it was made"
    memory.undo(first.run or "")
    [second] = memory.garden(apply=str(file))
    assert second.run not in (None, first.run)
    memory.undo(second.run or "")
    assert rows(memory) == before


def test_what_is_left_of_a_night_that_was_taken_back_is_not_finished(
    memory: hydramem.Memory, tmp_path: Path
) -> None:
    fill(memory)
    before, file = rows(memory), tmp_path / "plan.jsonl"
    memory.garden(plan=True, out=str(file))
    [made] = memory.garden(apply=str(file))
    folder = memory._garden_folder("default")
    (folder / UNFINISHED).write_bytes(file.read_bytes())  # as a kill leaves it
    [status] = memory.garden(status=True)
    assert (status.state, status.run) == ("partial", made.run) and "interrupted" in status.notes[0]
    memory.undo(made.run or "")
    [undone] = memory.garden(status=True)
    assert undone.taken_back and "is not applied" in undone.notes[0]
    [done] = memory.garden(phases=("review",))
    assert done.resumed == 0 and "undone" in done.notes[0]
    assert rows(memory) == before and not (folder / UNFINISHED).exists()


def test_a_report_that_cannot_be_kept_costs_nothing_else(memory: hydramem.Memory) -> None:
    fill(memory)
    folder = memory._garden_folder("default")
    folder.mkdir(parents=True)
    (folder / "reports").write_text("in the way", encoding="utf-8")
    [done] = memory.garden()
    assert done.run is not None and "the report cannot be kept" in done.notes[-1]
    memory.undo(done.run)
