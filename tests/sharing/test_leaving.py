"""An owner that leaves answers each call, or says that it has not begun it."""

import threading
from pathlib import Path

import pytest

import hydramem
from hydramem.core.errors import HydraMemError
from hydramem.sharing.client import Client
from hydramem.sharing.wire.messages import Call
from hydramem.sharing.wire.owner_link import OwnerGoneError, OwnerLink
from hydramem.storage.files.owner_note import read_note
from tests.engines import ENGINE
from tests.sharing.served import Served, served, settings


def hammer(owner: Served, started: threading.Barrier, ends: list[OwnerGoneError]) -> None:
    """Call until the owner has left; note how that was learnt."""
    link = owner.link()
    started.wait(10)
    try:
        while True:
            link.call(Call(operation="projects", project="default"))
    except OwnerGoneError as error:
        ends.append(error)
    finally:
        link.close()


@pytest.mark.parametrize("round", range(3))
@pytest.mark.slow
def test_a_call_that_an_owner_did_not_begin_is_not_taken_for_its_death(tmp_path: Path, round: int) -> None:
    started, ends = threading.Barrier(13), list[OwnerGoneError]()
    with served(tmp_path / "store", engine=ENGINE) as owner:
        threads = [threading.Thread(target=hammer, args=(owner, started, ends)) for _ in range(12)]
        for thread in threads:
            thread.start()
        started.wait(10)
        owner.server.stop()
        for thread in threads:
            thread.join(20)
        assert not any(thread.is_alive() for thread in threads)
    assert len(ends) == 12
    assert [str(error) for error in ends if error.begun] == []


@pytest.mark.slow
def test_calls_go_on_while_owners_come_and_leave(tmp_path: Path) -> None:
    """One after the other opens the store for a moment, as commands do; a client never notices."""
    store, failed, done, over = tmp_path / "store", list[Exception](), list[str](), threading.Event()

    def work(client: Client) -> None:
        while not over.is_set():
            try:
                done.append(client.remember(f"Line {len(done)} of a long list: {len(done) * 7919}.").id)
            except HydraMemError as error:
                failed.append(error)
                return

    with served(store) as owner:
        client = Client(owner.folder, "default", owner.link(), lambda: _next(store, over))
        thread = threading.Thread(target=work, args=(client,))
        thread.start()
    for _ in range(4):
        with served(store) as owner:
            over.wait(0.4)
    over.set()
    with served(store):
        thread.join(30)
    assert failed == [] and not thread.is_alive()
    client.close()
    with hydramem.connect(store, config=settings()) as memory:
        kept = [row.id for row in memory.memories(limit=1000)]
        assert set(done) <= set(kept) and len(kept) == len(set(kept))


def _next(store: Path, over: threading.Event) -> OwnerLink:
    """Wait for the next owner."""
    while True:
        note = read_note(store)
        if note is not None and note.address:
            try:
                return OwnerLink(store.resolve(), note)
            except OwnerGoneError:
                pass
        over.wait(0.01)
