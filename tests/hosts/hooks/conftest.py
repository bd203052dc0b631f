"""A store that this process holds, one for all tests of a module, and the hooks of hosts that call at it."""

import itertools
import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import hydramem
from hydramem.hosts.hooks.answer_event import HookPlace, answer_event
from hydramem.hosts.hooks.deadline import Deadline
from hydramem.hosts.hooks.trouble_log import LOG
from tests.engines import DISK_ENGINE

Hook = Callable[[str, bytes], str]
_numbers = itertools.count()


@pytest.fixture(scope="module", autouse=True)
def environment() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HYDRAMEM_STORAGE_GRAPH", DISK_ENGINE)  # the program calls at the owner of a folder
        patch.setenv("HYDRAMEM_EMBEDDING_MODEL", "hash")
        yield


@pytest.fixture(scope="module")
def held_store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    with hydramem.connect(tmp_path_factory.mktemp("held") / "store") as memory:
        memory.remember("Loaded once.", project="first")
        yield memory.folder


@pytest.fixture
def place(held_store: Path) -> Iterator[HookPlace]:
    """The store that this process holds, and a project of the test's own."""
    yield HookPlace(store=held_store, project=f"shop{next(_numbers)}")
    shutil.rmtree(held_store / "hooks", ignore_errors=True)
    for name in (LOG, "config.yml"):
        (held_store / name).unlink(missing_ok=True)


@pytest.fixture
def free_place(tmp_path: Path) -> HookPlace:
    """A folder that nobody holds."""
    return HookPlace(store=tmp_path / "store")


@pytest.fixture
def memory(place: HookPlace) -> Iterator[hydramem.Memory]:
    """The memory of the test's own project."""
    with hydramem.connect(place.store, project=place.project) as memory:
        yield memory


@pytest.fixture
def hook(place: HookPlace) -> Hook:
    """Answers events as the program does; an error is raised."""
    return hook_at(place)


def hook_at(place: HookPlace) -> Hook:
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


def turns(memory: hydramem.Memory, session: str) -> list[tuple[str | None, str]]:
    """Return the turns of a session, in order."""
    rows = memory.memories(kinds=["turn"], session=session, limit=500)
    return [(row.author, row.text) for row in sorted(rows, key=lambda row: row.position)]


def troubles(place: HookPlace) -> str:
    """Return the log."""
    path = place.store / LOG
    return path.read_text(encoding="utf-8") if path.exists() else ""
