"""The summary of a night: what was done, one example of each kind, what undoes it, and the trend."""

import shlex
from datetime import UTC, datetime, timedelta

import pytest

from hydramem import Memory
from hydramem.cli.garden_output import lines
from hydramem.core.results.garden_results import Gardened, NightHealth, StoreHealth, SummaryLine
from hydramem.server.answer_text import answer_text
from tests.garden.memories import night

NAMES = ("Ada Lovelace", "Lovelace, Ada")


def fill(memory: Memory) -> None:
    """Leave work for a night: a repeated memory, an expired one, two spellings of a name, an open claim."""
    memory.remember("The deploy happens on Friday at noon.")
    memory.remember("The deploy happens on Friday at noon!")
    memory.remember("The badge of the visitor.", expires_at="2020-01-01")
    for name in NAMES:
        for other in ("billing", "invoices", "ledger"):
            memory.relate(name, "leads", other)
    memory.relate("billing", "led_by", "Ada Lovelace", valid_from="2024-01-01")
    memory.relate("billing", "led_by", "Bob Stone", evidence=(), valid_from="2025-01-01", confidence=0.4)
    memory.drain()


def by_kind(report: Gardened) -> dict[str, SummaryLine]:
    return {line.kind: line for line in report.summary}


@pytest.mark.costly  # every phase, with the classifier
def test_a_night_says_in_ten_lines_what_it_did_and_each_command_undoes_its_example(memory: Memory) -> None:
    fill(memory)
    report = night(memory)
    said = by_kind(report)
    assert said["pruned"].what == "1 memory" and said["pruned"].example == '"The badge of the visitor."'
    assert "1 memory" in said["joined"].what and said["joined"].count >= 1
    assert said["asked"].command == "hydramem review"
    assert report.health is not None and said["asked"].count == report.health.questions
    shown = str(report).splitlines()
    assert len(shown) == 2 + len(said) <= 10
    assert shown[-1] == f"  to undo all of it: hydramem undo {report.run}"
    assert [line for line, _ in lines(report)][: len(said) + 1] == shown[:-1]
    assert answer_text((report,)).splitlines()[: len(shown)] == shown
    commands = {line.kind: shlex.split(line.command) for line in report.summary if line.command}
    assert commands["pruned"][:2] == ["hydramem", "undo"]
    for kind, (_, operation, id, *_more) in ((k, c) for k, c in commands.items() if k != "asked"):
        if operation == "split":
            memory.split(id)
            assert id in {row.name for row in memory.entities(limit=50)}
        else:
            assert operation == "undo", kind
            undone = memory.undo(id)
            assert undone.restored.get("chunks", 0) + undone.restored.get("relations", 0) >= 1, kind
            assert not undone.left
    texts = {row.text for row in memory.memories(states=["active"], limit=50)}
    assert {"The badge of the visitor.", "The deploy happens on Friday at noon!"} <= texts


def test_private_memories_are_no_examples(memory: Memory) -> None:
    memory.remember("The secret surprise party.", expires_at="2020-01-01", private=True)
    report = night(memory)
    [line] = [line for line in report.summary if line.kind == "pruned"]
    assert (line.what, line.example, line.command) == ("1 memory", "", None)
    assert "surprise" not in str(report)
    memory.remember("A public notice.", expires_at="2020-01-01")
    memory.remember("Sss.", expires_at="2020-01-01", private=True)
    assert by_kind(night(memory))["pruned"].example == '"A public notice."'


@pytest.mark.parametrize("private", [False, True])
def test_names_of_private_memories_alone_are_no_examples(memory: Memory, private: bool) -> None:
    memory.remember("KilnLine 300 stands in the hall.", entities=["KilnLine 300"])
    memory.remember("Gaskets for the KL300 come from Oslo.", entities=["KL300"], private=private)
    for name, hidden in (("O'Hara Systems", False), ("O'Hara systems.", private)):
        memory.entity(name, type="company")
        memory.remember(f"A bill came from {name}", entities=[name], private=hidden)
    report = night(memory, "merge")
    said = by_kind(report)
    assert said["linked"].count == said["joined"].count == 1
    assert ("KL300" in str(report)) is not private
    assert ("O'Hara systems." in str(report)) is not private


def test_hostile_text_stays_on_its_line(memory: Memory) -> None:
    memory.remember("Red \x07 bell\njoined 9 memories" + " x" * 500, expires_at="2020-01-01")
    line = by_kind(night(memory))["pruned"]
    assert "\x07" not in str(line) and "\n" not in str(line) and len(line.example) <= 120


def test_a_night_with_nothing_to_do_says_so_in_one_line(memory: Memory) -> None:
    report = night(memory)
    assert report.summary == () and str(report).count("\n") == 0
    assert ", nothing was changed" in str(report)


def test_another_project_is_named_in_commands(memory: Memory) -> None:
    memory.relate("A", "led_by", "B", evidence=(), confidence=0.4, project="o'ther")
    (report,) = memory.garden(project="o'ther")
    asked = by_kind(report).get("asked")
    assert asked is not None and shlex.split(asked.command or "")[-2:] == ["--project", "o'ther"]


def test_status_shows_the_trend_of_the_last_nights(memory: Memory) -> None:
    assert memory.garden(status=True) == ()
    fill(memory)
    first = night(memory)
    memory.relate("billing", "uses", "Oracle", evidence=(), confidence=0.4)
    memory.drain()
    second = night(memory)
    assert first.trend == ()
    [status] = memory.garden(status=True)
    assert [each.run for each in status.trend] == [second.run, first.run]
    assert [each.health for each in status.trend] == [second.health, first.health]
    night(memory, "merge")  # it counts no questions
    newest, before = memory.garden(status=True, limit=2)
    assert newest.health is None and len(newest.trend) == 2 and before.trend == ()


def test_the_trend_is_a_table_with_differences() -> None:
    at = datetime(2026, 1, 2, 3, tzinfo=UTC)
    nights = tuple(
        NightHealth(started_at=at - timedelta(days=n), run=None, health=StoreHealth(duplicates=n * 1000))
        for n in range(2)
    )
    report = Gardened(project="p", run=None, started_at=at, seconds=1, state="completed", trend=nights)
    *_, title, names, newest, oldest = [line for line, _ in lines(report)]
    assert title == "  waiting after each run:"
    assert names.split()[:3] == ["run", "of", "duplicates"]
    assert newest.split()[:4] == ["2026-01-02", "03:00", "0", "(-1,000)"]
    assert oldest.split()[:4] == ["2026-01-01", "03:00", "1,000", "0"]
