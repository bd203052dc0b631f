"""Recall before a turn: the layers of this call's projects, little, and nothing that does not bear on it."""

import json
import logging
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType, SimpleNamespace
from xml.etree import ElementTree

import pytest

import hydramem
from hydramem.core.config import Config, SearchConfig, StorageConfig
from hydramem.core.errors import InvalidInputError
from hydramem.core.inputs import CuratedChange
from hydramem.hosts.hermes.passive_recall import is_trivial
from hydramem.hosts.hermes.provider import HydraMemProvider
from hydramem.memory_api.memory import Memory
from tests.hosts.hermes.conftest import CONFIG, Begin

ANY = Config(storage=CONFIG.storage, embedding=CONFIG.embedding, search=SearchConfig(min_relevance=0.0))


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    """Return a memory in which everything bears on everything, as the model of tests knows no meanings."""
    with hydramem.connect(tmp_path / "store", config=ANY) as opened:
        opened.remember("Our turbine is green.")
        opened.remember("The turbine of atlas is red.", project="atlas")
        yield opened


def searches(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [one.getMessage() for one in caplog.records if "search fired" in one.getMessage()]


def test_without_a_project_three_layers_are_read_and_with_one_six(
    begin: Begin, caplog: pytest.LogCaptureFixture
) -> None:
    provider = begin()
    caplog.set_level(logging.INFO, logger="hydramem")
    alone = provider.prefetch("what about the turbine?", session_id="")
    assert "green" in alone and "red" not in alone
    both = provider.prefetch("what about the turbine?\n<hydramem-context project='atlas' />")
    assert "green" in both and "red" in both
    assert 'layer="project-working"' in both and 'project="atlas"' in both and 'source="' in both
    first, second = searches(caplog)
    assert first.startswith("search fired (caller=hook, limit=5): project=none, layers=3, raw_hits=1")
    assert second.startswith("search fired (caller=hook, limit=5): project=atlas, layers=6, raw_hits=2")


def test_the_tool_searches_by_the_same_plan(begin: Begin, memory: Memory) -> None:
    provider = begin()
    for text in (
        "A turbine in the north hums.",
        "Ada heard at night how some turbine hums.",
        "Every turbine which hums needs oil.",
    ):
        memory.remember(text, project="atlas")
    asked = {"query": "which turbine hums?", "project": "atlas"}
    found = provider.prefetch(asked["query"], project="atlas")
    answer = json.loads(provider.handle_tool_call("hydramem_recall", {**asked, "limit": 5}))
    assert snippets(found) == snippets(answer["recalled"])
    assert len(snippets(found)) == answer["count"] == len(answer["ids"]) == 5
    assert len(json.loads(provider.handle_tool_call("hydramem_recall", asked))["ids"]) == 5


def snippets(block: str) -> list[tuple[dict[str, str], str | None]]:
    return [(each.attrib, each.text) for each in ElementTree.fromstring(block)]


def test_a_project_of_the_settings_is_no_selection(home: Path, memory: Memory) -> None:
    (home / "hydramem.json").write_text('{"project": "atlas"}')
    provider = HydraMemProvider(memory)
    provider.initialize("s1", hermes_home=str(home))
    try:
        assert 'layer="project' not in provider.prefetch("what about the turbine?")
    finally:
        provider.shutdown()


def test_a_session_keeps_its_project_until_it_ends_it_or_begins_anew(begin: Begin) -> None:
    provider = begin("kept")
    provider.on_turn_start(1, "hello <hydramem-context project='atlas' />")
    assert "red" in provider.prefetch("what about the turbine?")
    assert "red" not in begin("isolated").prefetch("what about the turbine?")
    assert "red" in begin("kept").prefetch(
        "what about the turbine?"
    )  # as a gateway makes one for each message
    provider.on_session_switch("next", parent_session_id="kept", reason="compression")
    assert "red" in provider.prefetch("what about the turbine?")
    provider.on_session_switch("anew", parent_session_id="next", reset=True)
    assert "red" not in provider.prefetch("what about the turbine?")
    provider.on_session_switch("kept")
    assert "red" in provider.prefetch("what about the turbine?")
    assert "red" not in provider.prefetch("what about the turbine?", project=None)
    assert "red" not in provider.prefetch("what about the turbine?")


@pytest.mark.parametrize("project", [{}, ["atlas"], "   ", 7])
def test_a_project_that_is_none_is_refused_before_anything_is_read(
    begin: Begin, project: object, caplog: pytest.LogCaptureFixture
) -> None:
    provider = begin()
    caplog.set_level(logging.INFO, logger="hydramem")
    with pytest.raises(InvalidInputError, match="project"):
        provider.prefetch("what about the turbine?", project=project)
    assert not searches(caplog)


def test_the_block_is_bounded_the_same_each_time_and_without_the_frame_of_the_host(
    begin: Begin, memory: Memory
) -> None:
    for n in range(12):
        memory.remember(f"<memory-context> turbine {n} {'hums loudly & long ' * 60}</memory-context>")
    provider = begin()
    found = provider.prefetch("what about the turbine?")
    assert 1000 < len(found) <= 2000
    assert "<memory-context" not in found
    assert found.startswith('<recalled-memory data-source="hydramem">')
    assert found.endswith("</recalled-memory>")
    assert [provider.prefetch("what about the turbine?") for _ in range(3)] == [found] * 3


def test_curated_files_are_left_to_the_host(begin: Begin, memory: Memory) -> None:
    memory.curate("memory", [CuratedChange(action="add", content="The turbine is old.")])
    provider = begin()
    assert "old" not in provider.prefetch("what about the turbine?")
    assert "old" in provider.handle_tool_call("hydramem_recall", {"query": "what about the turbine?"})


def test_a_trivial_message_recalls_nothing_and_one_that_asks_something_is_not_trivial(begin: Begin) -> None:
    provider = begin()
    for message in ("", "  \n", "/new", "/undo 2", "ok", "Thanks!", "да", "好", "继续", "continue...", "?"):
        assert is_trivial(message) and provider.prefetch(message) == ""
    for message in ("id42?", "qa664-577728", "what now", "涡轮机在哪里", "タービンはどこ", "v2.1"):
        assert not is_trivial(message)


@pytest.mark.costly  # the real model of meanings
def test_what_does_not_bear_on_the_message_is_left_out(tmp_path: Path, home: Path) -> None:
    config = Config(storage=StorageConfig(graph="memory"))
    with hydramem.connect(tmp_path / "real", config=config) as memory:
        memory.remember("The billing service stores its invoices in PostgreSQL.")
        memory.remember("Ada prefers green tea in the morning.")
        provider = HydraMemProvider(memory)
        provider.initialize("s1", hermes_home=str(home))
        found = provider.prefetch("Which database does the billing service use for invoices?")
        assert "PostgreSQL" in found
        assert "tea" not in found
        assert provider.prefetch("Please write a haiku about the sea in winter.") == ""
        provider.shutdown()


def test_a_session_is_not_told_its_own_turns_and_others_are(begin: Begin) -> None:
    begin("s1").sync_turn("Who built the turbine?", "Zorvane Labs built the turbine.", session_id="s1")
    assert "Zorvane" not in begin("s1").prefetch("who built the turbine?")
    assert "Zorvane" in begin("s2").prefetch("who built the turbine?")
    assert "Zorvane" in begin("s1").prefetch("who built the turbine?", session_id="s2")


def test_later_versions_of_hermes_are_told_how_much_was_recalled(
    begin: Begin, monkeypatch: pytest.MonkeyPatch
) -> None:
    provider = begin()
    later = ModuleType("agent.memory_provider")
    later.RecallStatus = SimpleNamespace  # type: ignore[attr-defined]  # a part of Hermes after 0.19.0
    later.is_trivial_prompt = lambda text: text == "go ahead"  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "agent", ModuleType("agent"))
    monkeypatch.setitem(sys.modules, "agent.memory_provider", later)
    assert provider.recall_status() is None
    provider.prefetch("what about the turbine?")
    status = provider.recall_status()
    assert (status.provider_label, status.count) == ("HydraMem", 1)
    assert provider.prefetch("go ahead") == ""
    assert provider.recall_status() is None


def test_a_memory_that_is_slow_to_open_holds_no_turn_up(home: Path, memory: Memory) -> None:
    provider = HydraMemProvider(memory)
    may_open = threading.Event()
    provider.initialize("s1", hermes_home=str(home))
    hosted = provider._hosted
    assert hosted is not None
    hosted.connection.memory(10)
    hosted.connection._memory, hosted.connection._open_it = None, lambda: (may_open.wait(60), memory)[1]
    assert provider.prefetch("what about the turbine?") == "", "it did not wait until that may open"
    may_open.set()
    hosted.connection.memory(10)
    assert "green" in provider.prefetch("what about the turbine?")
    provider.shutdown()


def test_before_and_after_a_session_every_method_does_nothing(home: Path) -> None:
    provider = HydraMemProvider()
    assert provider.prefetch("what about the turbine?") == ""
    assert provider.system_prompt_block() == ""
    assert provider.on_pre_compress([]) == ""
    assert provider.recall_status() is None
    provider.sync_turn("a", "b")
    provider.on_turn_start(1, "a", remaining_tokens=5)
    provider.on_session_end([])
    provider.on_session_switch("s2")
    provider.on_memory_write("add", "memory", "x")
    provider.on_delegation("a", "b")
    provider.queue_prefetch("a")
    provider.shutdown()
    assert "error" in provider.handle_tool_call("hydramem_recall", {"query": "x"})
