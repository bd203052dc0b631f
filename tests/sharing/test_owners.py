"""Owners found and stopped, from the command line too; an owner that clients cannot find any more."""

import json
import os
import signal
import subprocess
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import hydramem
from hydramem.cli.main import run
from hydramem.memory_api.handle import call_at_last_close
from hydramem.sharing import serve_clients
from hydramem.sharing.owner_list import owned_folders
from hydramem.sharing.owners import owner_of, owners
from hydramem.sharing.wire.address import runtime_folders
from hydramem.sharing.wire.messages import CONFIG, Call
from hydramem.sharing.wire.owner_link import OwnerLink
from hydramem.storage.files.folder_lock import is_locked
from hydramem.storage.files.owner_note import NOTE, read_note
from tests.sharing.background_owners import note_of, owner_processes, script, wait_for, wait_until_gone

pytestmark = pytest.mark.usefixtures("environment")


def said(capsys: pytest.CaptureFixture[str], store: Path, *words: str, code: int = 0) -> str:
    assert run(["--store", str(store), *words]) == code
    out, err = capsys.readouterr()
    return err if code else out


@pytest.mark.slow
def test_commands_start_show_use_and_stop_an_owner(
    store: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert said(capsys, store, "stop") == f"no process holds {store}\n"
    assert not store.exists()  # nothing is started for it
    started = json.loads(said(capsys, store, "serve", "--background", "--json"))
    assert started["started"] and started["pid"] == owner_processes(store)[0]
    again = said(capsys, store, "serve", "--background")
    assert again.startswith(f"process {started['pid']} (") and "already" in again
    said(capsys, store, "remember", "Ada leads billing.")

    shown = json.loads(said(capsys, store, "ps", "--json"))
    (own,) = [owner for owner in shown if owner["folder"] == str(store)]
    assert own["pid"] == started["pid"] and own["background"]
    assert (own["clients"], own["calls"]) == (0, 0)
    assert 50 < own["memory_mb"] < 2000 and 0 <= own["idle_seconds"] < 60
    assert str(started["pid"]) in said(capsys, store, "ps")

    monkeypatch.chdir(tmp_path)
    said(capsys, store, "backup", "before.zip")
    said(capsys, store, "remember", "Grace leads research.")
    said(capsys, store, "restore", "before.zip")  # the owner closes the stores for it
    assert "Grace" not in said(capsys, store, "recall", "who leads research?")
    assert owner_processes(store) == [started["pid"]]

    note = note_of(store)
    assert said(capsys, store, "stop") == f"process {started['pid']} has left {store}\n"
    wait_until_gone(store, note)
    assert store not in owned_folders()
    assert json.loads(said(capsys, store, "stop", "--json")) == {"folder": str(store), "pid": None}


@pytest.mark.costly
def test_a_program_that_works_with_the_store_is_shown_and_not_stopped(
    store: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with hydramem.connect(store) as memory:
        memory.remember("Ada leads billing.")
        backup = str(tmp_path / "before.zip")
        memory.backup(backup)
        (own,) = [owner for owner in owners() if owner.folder == str(store)]
        assert own.pid == os.getpid() and not own.background
        for words in (("stop",), ("restore", backup)):
            refused = said(capsys, store, *words, code=1)
            assert f"process {os.getpid()}" in refused and "close it there" in refused
        assert "holds" in said(capsys, store, "serve", "--background")
        assert memory.recall("who leads billing?").hits
    assert store not in owned_folders()
    assert owner_of(store) is None


@pytest.mark.slow
def test_who_only_looks_does_not_keep_an_owner_from_leaving(store: Path) -> None:
    with hydramem.connect(store):
        first = owner_of(store).idle_seconds
        time.sleep(2)
        idle = owner_of(store).idle_seconds
        assert idle >= first + 1.9
        link = OwnerLink(store, read_note(store))
        link.call(Call(operation=CONFIG, project=""))
        link.close()
        assert owner_of(store).idle_seconds < idle


def test_a_handle_that_is_opened_while_the_last_one_closes_is_served_too(store: Path) -> None:
    closes, goes_on = threading.Event(), threading.Event()
    first = hydramem.connect(store)
    stop, stopped = first._opened.at_last_close
    call_at_last_close(first, lambda: (closes.set(), goes_on.wait(), stop()), stopped)
    with ThreadPoolExecutor(2) as pool:
        closing = pool.submit(first.close)
        closes.wait()
        opening = pool.submit(hydramem.connect, store)
        time.sleep(0.1)  # it waits for the first one to be closed
        goes_on.set()
        closing.result()
        with opening.result() as second:
            assert owner_of(store).pid == os.getpid()
            assert second.projects() == ()
    assert not is_locked(store)


@pytest.mark.parametrize("lost", ["name", "note"])
def test_an_owner_that_clients_cannot_find_listens_anew(
    store: Path, lost: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(serve_clients, "_SECONDS_BETWEEN_CHECKS", 0.05)
    with hydramem.connect(store):
        before = read_note(store)
        old = OwnerLink(store, before)
        Path(before.address.partition(":")[2] if lost == "name" else store / NOTE).unlink()
        wait_for(lambda: owner_of(store), "it is found again")
        after = read_note(store)
        assert after.key == before.key and after.address != before.address
        assert old.is_open()
        old.close()
    assert read_note(store) is None
    assert not Path(after.address.partition(":")[2]).exists()


@pytest.mark.slow
def test_what_a_killed_owner_leaves_in_the_list_is_cleaned_up(store: Path) -> None:
    text = "import hydramem, sys; memory = hydramem.connect(sys.argv[1]); print(flush=True); input()"
    with script(text, str(store)) as program:
        program.stdout.readline()
        address = read_note(store).address.partition(":")[2]
        assert store in owned_folders() and Path(address).exists()
        program.kill()
        program.wait()
        assert store not in owned_folders()
        assert not Path(address).exists()
    entries = [file for place in runtime_folders() for file in place.glob(f"*-{program.pid}.owner")]
    assert not entries


FORKS = """
import os, sys, time, hydramem
memory = hydramem.connect(sys.argv[1])
child = os.fork()
if not child:
    time.sleep(60)
print(child, flush=True)
os.kill(os.getpid(), 9)
"""


@pytest.mark.slow
def test_a_forked_child_keeps_neither_the_lock_nor_the_socket(store: Path) -> None:
    with script(FORKS, str(store)) as program:
        child = int(program.stdout.readline())
        program.wait()
        try:
            os.kill(child, 0)
            assert not is_locked(store)
            assert owner_of(store) is None
            with hydramem.connect(store) as memory:
                assert memory.remember("Ada leads billing.").id
        finally:
            os.kill(child, signal.SIGKILL)


@pytest.mark.slow
def test_the_end_of_a_forked_child_takes_nothing_from_its_parent(store: Path) -> None:
    text = (
        "import os, sys, hydramem; memory = hydramem.connect(sys.argv[1]); child = os.fork()\n"
        "from hydramem.sharing import serve_clients\n"
        # All that runs at the end; what libraries do there can hang, since their threads are gone.
        "if not child: serve_clients._stop_all(); os._exit(0)\n"
        "print(os.waitpid(child, 0)[1], flush=True); input()"
    )
    with script(text, str(store)) as program:
        assert program.stdout.readline() == "0\n"
        assert owner_of(store).pid == program.pid
        assert store in owned_folders()
        program.communicate("\n")


@pytest.mark.slow
def test_an_mcp_server_beside_an_owner_is_a_client_of_it(store: Path) -> None:
    with hydramem.connect(store) as memory:
        memory.remember("Ada leads billing.")
        own = {
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": {"name": "t", "version": "1"},
        }
        hello = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": own}
        asked = {"name": "recall", "arguments": {"query": "who leads billing?"}}
        recall = {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": asked}
        server = "from hydramem.cli.main import run; import sys; run(['--store', sys.argv[1], 'serve'])"
        with script(server, str(store), stderr=subprocess.PIPE) as served:
            for message in (hello, {"jsonrpc": "2.0", "method": "notifications/initialized"}, recall):
                served.stdin.write(f"{json.dumps(message)}\n")
                served.stdin.flush()
            answers = [json.loads(served.stdout.readline()) for _ in range(2)]
            assert "Ada leads billing." in json.dumps(answers[1]["result"])
            assert owner_of(store).clients == 1
            served.communicate()
