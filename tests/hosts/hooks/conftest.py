"""A store that this process holds, and the hooks of hosts that call at it."""

import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import hydramem
from hydramem.hosts.hooks.answer_event import HookPlace, answer_event
from hydramem.hosts.hooks.deadline import Deadline
from hydramem.hosts.hooks.trouble_log import LOG

ENGINE = os.environ.get("HYDRAMEM_TEST_ENGINE", "ladybug")
Hook = Callable[[str, bytes], str]


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in (("HYDRAMEM_STORAGE_GRAPH", ENGINE), ("HYDRAMEM_EMBEDDING_MODEL", "hash")):
        monkeypatch.setenv(name, value)
    monkeypatch.delenv("HYDRAMEM_PROJECT", raising=False)
    monkeypatch.delenv("HYDRAMEM_HOME", raising=False)


@pytest.fixture
def place(tmp_path: Path) -> HookPlace:
    return HookPlace(store=tmp_path / "store")


@pytest.fixture
def memory(place: HookPlace) -> Iterator[hydramem.Memory]:
    with hydramem.connect(place.store) as memory:
        yield memory


@pytest.fixture
def hook(memory: hydramem.Memory, place: HookPlace) -> Hook:
    """Answers events as the program does; an error is raised."""

    def answer(host: str, raw: bytes) -> str:
        written: list[str] = []
        answer_event(raw, host, place, Deadline(30.0), written.append)
        assert len(written) <= 1
        return "".join(written)

    return answer


def context(answer: str) -> str:
    """Return what an answer injects."""
    if not answer:
        return ""
    fields = json.loads(answer)
    found = fields.get("context") or fields["hookSpecificOutput"]["additionalContext"]
    assert isinstance(found, str)
    return found


def turns(memory: hydramem.Memory, session: str, project: str = "shop") -> list[tuple[str | None, str]]:
    """Return the turns of a session, in order."""
    rows = memory.memories(kinds=["turn"], session=session, project=project, limit=500)
    return [(row.author, row.text) for row in sorted(rows, key=lambda row: row.position)]


def troubles(place: HookPlace) -> str:
    """Return the log."""
    path = place.store / LOG
    return path.read_text(encoding="utf-8") if path.exists() else ""
