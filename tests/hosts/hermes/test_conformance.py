"""The provider in the real package of Hermes: found, loaded, and driven by its memory manager.

`pip install --no-deps hermes-agent==0.19.0` in an environment of its own is enough, or the unpacked wheel on
PYTHONPATH; where neither is there, these tests are skipped.
"""

import importlib.util
import json
import shutil
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import hydramem
from hydramem.hosts.hermes.provider import HydraMemProvider
from hydramem.memory_api.memory import Memory
from tests.hosts.hermes.conftest import turns
from tests.sharing.background_owners import ENVIRONMENT, no_owner_left

PLUGIN = Path(hydramem.__file__).parent / "data" / "hosts" / "hermes"

if importlib.util.find_spec("hermes_constants") is None:
    pytest.skip("hermes-agent is not installed", allow_module_level=True)


@pytest.fixture
def installed(home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Copy the plugin into the home folder of Hermes, whose memory is then served in the background."""
    for name, value in ENVIRONMENT.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("HYDRAMEM_SEARCH_MIN_RELEVANCE", "0")
    shutil.copytree(PLUGIN, home / "plugins" / "hydramem")
    with no_owner_left(home / "hydramem"):
        yield home


@pytest.fixture
def manager(installed: Path) -> Iterator[Any]:
    from agent.memory_manager import MemoryManager
    from plugins.memory import load_memory_provider

    provider = load_memory_provider("hydramem")
    assert provider is not None
    made = MemoryManager()
    made.add_provider(provider)
    made.initialize_all("s1", platform="cli", hermes_home=str(installed), agent_context="primary")
    yield made
    made.shutdown_all()


@pytest.fixture
def memory(manager: Any, installed: Path) -> Iterator[Memory]:
    provider = manager.get_provider("hydramem")
    provider._hosted.connection.memory(30)
    with hydramem.connect(installed / "hydramem") as opened:
        yield opened


def test_the_provider_is_what_hermes_takes_for_one(home: Path) -> None:
    from agent.memory_provider import MemoryProvider

    assert issubclass(HydraMemProvider, MemoryProvider)
    own = {
        name for name, value in vars(MemoryProvider).items() if not name.startswith("_") and callable(value)
    }
    assert own <= set(vars(HydraMemProvider))


def test_the_tools_are_routed_and_shadow_none_of_hermes(manager: Any, memory: Memory) -> None:
    from plugins.memory import discover_memory_providers
    from toolsets import _HERMES_CORE_TOOLS

    found = {name: (description, available) for name, description, available in discover_memory_providers()}
    assert found["hydramem"][1] and "memory" in found["hydramem"][0]
    names = manager.get_all_tool_names()
    assert 0 < len(names) <= 6
    assert not names & set(_HERMES_CORE_TOOLS)
    assert {each["name"] for each in manager.get_all_tool_schemas()} == names
    stored = json.loads(manager.handle_tool_call("hydramem_remember", {"text": "The turbine is green."}))
    answer = json.loads(manager.handle_tool_call("hydramem_recall", {"query": "the turbine"}))
    assert answer["ids"] == [stored["id"]]
    assert "HydraMem" in manager.build_system_prompt()


@pytest.mark.smoke
def test_a_conversation_through_the_manager(manager: Any, memory: Memory, installed: Path) -> None:
    from agent.memory_manager import build_memory_context_block

    manager.on_turn_start(1, "Where is the turbine?")
    assert manager.prefetch_all("Where is the turbine?") == ""
    manager.sync_all(
        "Where is the turbine?",
        "In the harbour of Ghent.",
        session_id="s1",
        messages=[{"role": "user", "content": "Where is the turbine?"}],
    )
    manager.queue_prefetch_all("Where is the turbine?", session_id="s1")
    assert manager.flush_pending(30)
    assert turns(memory) == [("user", "Where is the turbine?"), ("assistant", "In the harbour of Ghent.")]
    manager.commit_session_boundary_async([], new_session_id="s2", parent_session_id="s1")
    assert manager.flush_pending(30)
    recalled = manager.prefetch_all("Where was that turbine again?")
    assert "Ghent" in recalled
    assert recalled in build_memory_context_block(
        recalled
    )  # nothing of it is taken for the frame of the host
    manager.sync_all("Thank you, and tomorrow?", f"As told: {recalled}", session_id="s2")
    assert manager.flush_pending(30)
    assert [text for _, text in turns(memory) if "tomorrow" in text or "told" in text] != []
    assert "recalled-memory" not in " ".join(text for _, text in turns(memory))
    assert {session.name.rpartition(":")[2] for session in memory.sessions()} == {"s1", "s2"}
    assert isinstance(manager.on_pre_compress([]), str)


def test_writes_of_the_built_in_memory_tool_are_repeated(manager: Any, memory: Memory) -> None:
    def write(result: Any, **arguments: Any) -> None:
        manager.notify_memory_tool_write(
            json.dumps(result), arguments, build_metadata=lambda: {"session_id": "s1"}
        )

    write({"success": True}, action="add", target="memory", content="The lock is red.")
    write({"success": True, "staged": True}, action="add", target="memory", content="Staged.")
    write({"success": False}, action="add", target="memory", content="Failed.")
    write(
        {"success": True},
        target="memory",
        operations=[
            {"action": "replace", "content": "The lock is blue.", "old_text": "lock is red"},
            {"action": "add", "content": "Two doors."},
        ],
    )
    assert memory.curated("memory")[0].entries == ("The lock is blue.", "Two doors.")


def test_a_second_provider_is_refused_and_shutdown_leaves_no_thread(manager: Any, memory: Memory) -> None:
    manager.add_provider(HydraMemProvider())
    assert len(manager.providers) == 1
    manager.shutdown_all()
    assert not [each for each in threading.enumerate() if each.name == "hydramem-open"]
