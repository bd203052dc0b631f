"""A client behaves as the memory does: threads, forks, sessions, files, progress, and its end."""

import os
import signal
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import hydramem
from hydramem.core.errors import (
    EmbeddingMismatchError,
    InvalidInputError,
    NotFoundError,
    StorageError,
    StoreBusyError,
)
from hydramem.core.inputs import Progress
from hydramem.llm.hash_embedder import HashEmbedder
from hydramem.llm.scripted_generator import ScriptedGenerator
from hydramem.sharing.client import Client
from hydramem.sharing.connect import call
from tests.engines import ENGINE
from tests.sharing.background_owners import SECONDS, wait_for
from tests.sharing.served import Served, served, settings


@pytest.fixture(scope="module")
def owner(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with served(tmp_path_factory.mktemp("client") / "store", engine=ENGINE) as owner:
        yield owner


@pytest.fixture
def client(owner: Served) -> Iterator[Client]:
    with owner.client() as client:
        yield client


def threads() -> int:
    return sum(thread.name.startswith("hydramem-client") for thread in threading.enumerate())


def gone(owner: Served) -> None:
    wait_for(lambda: not owner.server._channels and not threads(), "the owner has no connection")


def documents(folder: Path, count: int) -> Path:
    folder.mkdir()
    for number in range(count):
        text = f"# Report {number}\n\nCrate {number} stands in hall {number * 7} of pier {number * 3}.\n"
        (folder / f"report{number:03}.md").write_text(text)
    return folder


def test_it_has_the_methods_of_a_memory_and_the_settings_of_the_owner(owner: Served, client: Client) -> None:
    public = {name for name in dir(hydramem.Memory) if not name.startswith("_")}
    assert public <= set(dir(client))
    assert "importance" in str(client.remember.__signature__) and client.recall.__doc__
    with pytest.raises(AttributeError, match="nonsense"):
        client.nonsense  # noqa: B018 -- it is what is tested
    assert (client.config, client.folder) == (owner.settings, owner.folder)


def test_progress_arrives_as_it_is_reported(tmp_path: Path, client: Client) -> None:
    folder = documents(tmp_path / "docs", 4)
    reports: list[Progress] = []
    client.ingest([str(folder)], project="progress", progress=reports.append)
    assert [(each.done, each.total) for each in reports] == [(n, 4) for n in (0, 0, 0, 0, 4)]
    assert all(isinstance(each, Progress) and each.what.endswith(".md") for each in reports)
    numbers: list[tuple[int, int]] = []
    client.dump(str(tmp_path / "dump"), progress=lambda done, total: numbers.append((done, total)))
    assert numbers and all(isinstance(each, int) for pair in numbers for each in pair)
    garden: list[Any] = []
    call(client, "garden", {}, actor="cli", progress=garden.append)  # type: ignore[arg-type]
    assert all(isinstance(each, Progress) for each in garden)


@pytest.mark.parametrize("error", [LookupError, KeyboardInterrupt])
def test_a_callback_that_fails_or_ctrl_c_ends_the_call_and_cancels_it(
    tmp_path: Path, owner: Served, error: type[BaseException]
) -> None:
    folder, client = documents(tmp_path / "docs", 20), owner.client(error.__name__)
    first = client.ingest([str(folder / "report000.md")])

    def fail(progress: Progress) -> None:
        if error is LookupError:
            raise LookupError("no more")
        signal.raise_signal(signal.SIGINT)

    with pytest.raises(error):
        client.ingest([str(folder)], progress=fail)
    wait_for(lambda: not owner.server._calls, "the call ends")
    stored = {Path(each.source).name for each in client.documents(limit=100)}
    assert first.documents == 1 and "report000.md" in stored, "what was acknowledged stays"
    assert len(stored) < 20, "it ran to its end"
    assert client.ingest([str(folder)]).documents == 20 - len(stored)
    client.close()


def test_a_session_is_recorded_as_in_process(tmp_path: Path, owner: Served, client: Client) -> None:
    made = {}
    for name, memory in (("through", client), ("in process", owner.memory)):
        project = f"sessions {name}"
        memory.remember("Ada leads the billing team.", project=project)
        with memory.session(name, project=project) as live:
            live.turn("Who leads billing?", "Ada does.")
            live.say("Thanks.", author="user")
            live.recall("billing")
            live.remember("Billing is led by Ada since May.")
        found = memory.sessions(project=project)[0]
        kept = sorted(each.text for each in memory.memories(session=name, project=project))
        asked = [each["text"] for each in found.metadata["queries"]]
        made[name] = (found.name == name, asked, kept)
    assert made["through"] == made["in process"]
    with served(tmp_path / "other", engine=ENGINE) as other, owner.client("bees") as bees:
        elsewhere = other.client()
        bees.remember("Bo keeps bees.")
        elsewhere.remember("Bo keeps bees.")
        with bees.during("hive"):
            bees.recall("bees")
            elsewhere.recall("bees")
        with bees.during(None):
            bees.recall("bees")
        assert [each.name for each in bees.sessions()] == ["hive"]
        assert "hive" not in [each.name for each in elsewhere.sessions()], "a session is that of one store"
        elsewhere.close()
    with pytest.raises(InvalidInputError, match="session: is blank"), client.session(" "):
        pass


def test_actors_runs_and_requests_are_those_of_the_call(owner: Served, client: Client) -> None:
    by_python = client.remember("Written by a program.")
    by_command = call(client, "remember", {"text": "Written by a command."}, actor="cli", request="q_mine")
    changes = [owner.memory._opened.graph.changes(target=each.id)[0] for each in (by_python, by_command)]  # type: ignore[attr-defined]
    assert [each.actor for each in changes] == ["python", "cli"]
    assert changes[1].request == "q_mine" and changes[0].request
    assert changes[0].run == by_python.run != changes[1].run
    assert client.undo(by_python.run).run


def test_files_are_found_in_the_folder_of_the_client(
    tmp_path: Path, owner: Served, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The owner shares the folder here: paths are absolute before they are sent."""
    documents(tmp_path / "docs", 2)
    monkeypatch.chdir(tmp_path)
    sent: list[Any] = []
    to_wire = hydramem.sharing.client.to_wire  # type: ignore[attr-defined]
    monkeypatch.setattr("hydramem.sharing.client.to_wire", lambda given: sent.append(given) or to_wire(given))
    for docs in ("docs", Path("docs"), (each for each in ["docs/report000.md"]), {"docs/report001.md"}):
        client.ingest(docs, project="files")
    client.dump("dump")
    assert (tmp_path / "dump").is_dir()
    given = [sources["sources"] for sources in sent[:4]]
    each = [one for part in given for one in ([part] if isinstance(part, str | Path) else part)]
    assert all(Path(one).is_absolute() for one in each)
    files = {Path(each.source) for each in client.documents(project="files")}
    assert files == {tmp_path / "docs" / f"report00{n}.md" for n in range(2)}
    with pytest.raises(InvalidInputError, match=r"blank|give"):
        client.dump(" ")


def test_two_projects_are_two(owner: Served) -> None:
    with owner.client("alpha") as alpha, owner.client("beta") as beta:
        alpha.remember("Only alpha knows the word zanzibar.")
        assert len(alpha.recall("zanzibar").hits) == 1
        assert beta.recall("zanzibar").hits == ()
        assert len(beta.recall("zanzibar", also=["alpha"]).hits) == 1
    with owner.client("..") as wrong, pytest.raises(InvalidInputError, match="project"):
        wrong.memories()


def test_many_threads_use_one_client(owner: Served) -> None:
    with owner.client("threads") as client, ThreadPoolExecutor(12) as pool:
        ids = list(pool.map(lambda n: client.remember(f"Thread {n} counts crate {n * 11}.").id, range(24)))
        texts = list(pool.map(lambda id: client.get(id).text, ids))
        assert texts == [f"Thread {n} counts crate {n * 11}." for n in range(24)]
    gone(owner)


def test_use_after_close_is_an_error(owner: Served) -> None:
    client = owner.client()
    client.close()
    client.close()
    with pytest.raises(StorageError, match="closed; connect again"):
        client.memories()
    with pytest.raises(StorageError, match="closed; connect again"):
        _ = client.config
    gone(owner)


def test_calls_that_run_when_it_is_closed_come_to_their_end(owner: Served) -> None:
    client = owner.client("closing")
    stored: list[list[str]] = [[], [], [], []]

    def work(number: int) -> None:
        with pytest.raises(StorageError, match="closed"):
            while True:  # each is noted before the next one can fail
                text = f"Worker {number} wrote line {len(stored[number])} of {number * 7919}."
                stored[number].append(client.remember(text).id)

    with ThreadPoolExecutor(4) as pool:
        workers = [pool.submit(work, number) for number in range(4)]
        wait_for(lambda: all(stored), "each has stored something")
        client.close()
        for worker in workers:
            worker.result(SECONDS)
    ids = [id for part in stored for id in part]
    assert all(owner.memory.get(id).text for id in ids)
    gone(owner)


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_child_is_refused_and_leaves_the_connections_of_its_parent(
    owner: Served, client: Client
) -> None:
    client.memories()
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:  # pragma: no cover -- another process
        try:
            client.memories()
            said = "worked"
        except StorageError as error:
            said = str(error)
        client.close()
        os.write(writing, said.encode())
        os._exit(0)
    os.waitpid(child, 0)
    os.close(writing)
    with os.fdopen(reading) as file:
        assert "before a fork" in file.read()
    assert client._links[0].is_open()
    assert client.memories() is not None


def test_erase_and_restore_are_refused_where_a_program_owns(tmp_path: Path, client: Client) -> None:
    id = client.remember("Erase me when you can.", project="erasing").id
    here = f"process {os.getpid()} .*close it there"
    with pytest.raises(StoreBusyError, match=here):
        client.erase([id], project="erasing")
    with pytest.raises(StoreBusyError, match=here):
        client.restore(str(tmp_path / "nothing.tar.gz"))
    assert client.erase([id], project="erasing", dry_run=True).removed["chunks"] == 1
    assert client.get(id).id == id


@pytest.mark.slow
def test_erase_and_restore_are_done_where_the_owner_is_there_for_clients(tmp_path: Path) -> None:
    with (
        served(tmp_path / "store", whole=True) as owner,
        owner.client("beta") as client,
        owner.client() as other,
    ):
        mine = client.remember("Beta holds a secret.").id
        theirs = other.remember("The default project holds another.").id
        client.backup(str(tmp_path / "backup.tar.gz"))
        receipt = client.erase(whole_project=True)
        assert receipt.project == "beta", "a client's own project"
        assert other.get(theirs).text.startswith("The default")
        with pytest.raises(NotFoundError):
            client.get(mine)
        client.restore(str(tmp_path / "backup.tar.gz"))
        assert client.get(mine).text == "Beta holds a secret."
        client.remember("It can be written again.")
    with hydramem.connect(tmp_path / "store", config=settings()) as memory:
        assert memory.doctor().problems == ()


def test_what_the_owner_cannot_use_is_refused_by_connect(
    owner: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hydramem.sharing.attach, "is_held_here", lambda folder: False)  # type: ignore[attr-defined]  # as another process
    with pytest.raises(StoreBusyError, match="generator"):
        hydramem.connect(owner.folder, generator=ScriptedGenerator([]))
    with pytest.raises(EmbeddingMismatchError, match="hash/384, not hash/64"):
        hydramem.connect(owner.folder, embedder=HashEmbedder(64))
    with hydramem.connect(owner.folder, embedder=HashEmbedder()) as client:
        assert isinstance(client, Client)
    gone(owner)


def test_more_calls_than_the_owner_takes_wait_and_then_are_told_so(tmp_path: Path) -> None:
    shared = served(tmp_path / "store", wait_seconds=0.5, whole=True, engine=ENGINE)
    with shared as owner, owner.client() as client:
        with (
            owner.server._runner._turns.taken(alone=True),
            pytest.raises(StoreBusyError, match="busy: 1 calls run"),
        ):
            client.memories()
        assert client.memories() == ()
