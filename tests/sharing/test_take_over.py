"""The owner leaves, dies or hangs: its clients go on, and each write is there once."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

import hydramem
from hydramem.core.errors import StoreBusyError
from hydramem.sharing.client import Client
from hydramem.sharing.owners import owner_of, stop_owner
from hydramem.storage.files.folder_lock import is_locked
from hydramem.storage.files.owner_note import process_start, read_note
from tests.sharing.background_owners import wait_for
from tests.sharing.served import settings
from tests.sharing.sockets import sockets_of


class Worker:
    """A process that holds a store, or is a client of one that does."""

    def __init__(self, store: Path, wait_seconds: float = 30.0) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.sharing.worker", str(store), str(wait_seconds)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.pid = self._process.pid
        self.kind = self.answer()

    def say(self, *what: object) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(what) + "\n")
        self._process.stdin.flush()

    def answer(self) -> Any:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        assert line, "the process has ended"
        return json.loads(line)

    def ask(self, *what: object) -> Any:
        self.say(*what)
        return self.answer()

    def signal(self, number: int) -> None:
        os.kill(self.pid, number)

    def end(self) -> None:
        with suppress(OSError):
            self.signal(signal.SIGCONT)
        self._process.communicate()


@pytest.fixture
def worker(tmp_path: Path) -> Iterator[Callable[..., Worker]]:
    """Return a function that starts workers on one store, which are ended at the end."""
    started: list[Worker] = []

    def start(*given: float) -> Worker:
        started.append(Worker(tmp_path / "store", *given))
        return started[-1]

    yield start
    for each in started:
        each.end()
    assert not is_locked(tmp_path / "store")
    assert sockets_of(tmp_path / "store") == []


@pytest.mark.slow
def test_a_client_takes_over_from_an_owner_that_closes_and_every_write_is_there_once(
    worker: Callable[..., Worker],
) -> None:
    """The soak shows it of owners that are killed."""
    owner, others = worker(), [worker() for _ in range(3)]
    assert (owner.kind, {each.kind for each in others}) == ("Memory", {"Client"})
    for number, each in enumerate(others):
        each.say("work", number, owner.pid)
    wait_for(lambda: len(owner.ask("texts")) > 5, "they write")
    assert owner.ask("close") is None
    acknowledged = [text for each in others for text in each.answer()]
    assert [each.ask("kind") for each in others].count("owner") == 1, "one owns the store now"
    assert sorted(others[0].ask("texts")) == sorted(acknowledged)


@pytest.mark.slow
def test_a_write_whose_owner_died_before_the_reply_is_done_once(
    tmp_path: Path, worker: Callable[..., Worker]
) -> None:
    owner, client = worker(), worker()
    owner.ask("die before the reply", "c_")
    id, created = client.ask("remember", "Ada leads the billing team.")
    assert created, "the first answer is returned, not that of a second write"
    assert client.ask("kind") == "owner"
    client.ask("close")
    with hydramem.connect(tmp_path / "store", config=settings()) as memory:
        assert len(memory._opened.graph.changes(target=id)) == 1
        assert [row.text for row in memory.memories()] == ["Ada leads the billing team."]


@pytest.mark.slow
def test_an_owner_that_hangs_is_named_and_left_alone(tmp_path: Path, worker: Callable[..., Worker]) -> None:
    owner = worker(4.0)  # what is answered is answered in time, also on a busy machine
    with hydramem.connect(tmp_path / "store", config=settings()) as client:
        assert isinstance(client, Client)
        client.remember("Ada leads the billing team.")
        owner.signal(signal.SIGSTOP)
        note = read_note(tmp_path / "store")
        assert note is not None and note.started == process_start(owner.pid)
        since = note.since[:19].replace("T", " ")
        for attempt in (
            client.memories,
            lambda: client.remember("Bo keeps bees."),
            lambda: hydramem.connect(tmp_path / "store"),
        ):
            with pytest.raises(
                StoreBusyError, match=rf"process {owner.pid} \(.*\) since {since} UTC.*not answered"
            ):
                attempt()
        assert owner_of(tmp_path / "store").clients is None  # it does not say
        with pytest.raises(StoreBusyError, match=f"process {owner.pid}"):
            stop_owner(tmp_path / "store")
        owner.signal(signal.SIGCONT)
        assert "Ada leads the billing team." in {row.text for row in client.memories()}
        client.remember("Cy keeps cats.")
        assert owner.ask("kind") == "Memory", "the owner is still that process"
