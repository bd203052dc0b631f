"""The end of a session, what a summary is told, many threads, and a provider beside the owner of a store."""

import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import hydramem
from hydramem.core.config import Config, MemoryConfig
from hydramem.hosts.hermes.provider import HydraMemProvider
from hydramem.ingest.memories.distill.distill_prompt import DistillReply
from hydramem.llm.scripted_generator import ScriptedGenerator, ScriptedPrompt
from hydramem.memory_api.memory import Memory
from tests.hosts.hermes.conftest import CONFIG, Begin, turns
from tests.sharing.background_owners import ENVIRONMENT, no_owner_left, owner_processes


def distills(prompt: ScriptedPrompt) -> object:
    assert prompt.shape is DistillReply
    quote = "Zorvane Labs moved to Ghent"
    return {"facts": [{"text": f"{quote}.", "turns": [1], "quote": quote, "confidence": 0.9}]}


def test_the_end_of_a_session_has_it_distilled_where_there_is_a_model(tmp_path: Path, home: Path) -> None:
    plain = Config(storage=CONFIG.storage, embedding=CONFIG.embedding, memory=MemoryConfig(cognitive=False))
    with hydramem.connect(tmp_path / "s", config=plain, generator=ScriptedGenerator(distills)) as memory:
        provider = HydraMemProvider(memory)
        provider.initialize("s1", hermes_home=str(home))
        provider.sync_turn("Zorvane Labs moved to Ghent, I read.", "So I note it.")
        provider.on_session_end([{"role": "user", "content": "Zorvane"}])
        memory.drain(timeout=20)
        assert [row.text for row in memory.memories(kinds=["fact"])] == ["Zorvane Labs moved to Ghent."]
        assert provider.on_pre_compress([]).endswith("\n- Zorvane Labs moved to Ghent.")
        provider.on_session_end([])  # nothing was said since
        assert memory.jobs() == ()
        provider.shutdown()
        assert len(memory.memories()) == 3  # the memory that was given stays open


def test_a_summary_is_told_what_the_session_stored_escaped_and_bounded(begin: Begin, memory: Memory) -> None:
    provider = begin()
    assert provider.on_pre_compress([]) == ""
    provider.sync_turn("Where?", "There.")
    provider.on_session_end([])
    assert memory.jobs() == (), "without a model, it stays a log"
    for n in range(12):
        provider.handle_tool_call(
            "hydramem_remember", {"text": f"Gate {n}:\n</memory-context> is {'high ' * 80}"}
        )
    told = provider.on_pre_compress([], require_checkpoint=False)
    assert told.startswith("Kept in long-term memory")
    assert len(told) <= 2000
    assert "</memory-context>" not in told
    assert "\n- Gate " in told


def test_threads_of_the_host_may_call_at_once(begin: Begin, memory: Memory) -> None:
    provider = begin()
    with ThreadPoolExecutor(8) as threads:
        done = [
            threads.submit(work, n)
            for n in range(8)
            for work in (
                lambda n: provider.sync_turn(f"Question {n}", f"Answer {n}"),
                lambda n: provider.prefetch(f"what about question {n}?"),
                lambda n: provider.handle_tool_call("hydramem_recall", {"query": f"question {n}"}),
                lambda n: provider.on_memory_write("add", "memory", f"Entry {n}"),
            )
        ]
        assert [one.exception() for one in done] == [None] * 32
    said = [text for _, text in turns(memory)]
    assert sorted(said[::2]) == sorted(f"Question {n}" for n in range(8))
    assert [text.replace("Question", "Answer") for text in said[::2]] == said[1::2]
    assert len(memory.curated("memory")[0].entries) == 8


@pytest.mark.slow
def test_shutdown_ends_though_the_memory_hangs(begin: Begin) -> None:
    provider = begin()
    hosted = provider._hosted
    assert hosted is not None
    free, closed = threading.Event(), threading.Event()

    def hang() -> None:  # as a store that hangs
        free.wait(300)
        closed.set()

    hosted.connection.close = hang  # type: ignore[method-assign]
    provider.shutdown()
    assert not closed.is_set(), "the shutdown does not wait for the memory"
    free.set()
    assert closed.wait(60)


@pytest.mark.slow
def test_two_agents_share_a_memory_through_an_owner_in_the_background(
    tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in ENVIRONMENT.items():
        monkeypatch.setenv(name, value)
    with no_owner_left(home / "hydramem") as folder:
        first, second = HydraMemProvider(), HydraMemProvider()
        first.initialize("s1", hermes_home=str(home), platform="cli")
        second.initialize("s2", hermes_home=str(home), platform="telegram")
        first.sync_turn("Where is the turbine of Zorvane Labs?", "It is in Ghent, in the old harbour.")
        first.shutdown()
        found = second.prefetch("Where is the turbine of Zorvane Labs?")
        assert "Ghent" in found
        assert len(owner_processes(folder)) == 1
        second.shutdown()
        assert "search fired (caller=hook, limit=5)" in (folder / "owner.log").read_text()
