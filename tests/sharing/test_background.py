"""An owner in the background: started once, survives its starter, leaves nothing when it goes."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

import pytest

import hydramem
from hydramem.core.config import Config, StorageConfig
from hydramem.core.errors import ConfigError, InvalidInputError, StorageError, StoreBusyError
from hydramem.llm.local_embedder import LocalEmbedder
from hydramem.memory_api.handle import warm_up
from hydramem.memory_api.memory import connect as open_here
from hydramem.sharing import background
from hydramem.sharing.client import Client
from hydramem.sharing.owner_list import owned_folders
from hydramem.sharing.owners import owner_of, stop_owner
from hydramem.storage.files.folder_lock import is_locked
from hydramem.storage.files.owner_note import NOTE, read_note
from tests.engines import ENGINE
from tests.sharing.background_owners import (
    no_owner_left,
    note_of,
    owner_processes,
    script,
    wait_for,
    wait_until_gone,
)

HEAVY = ("numpy", "pyarrow", "pydantic", "lancedb", "yaml", "rich", "hydramem.memory_api")

STARTER = f"""
import sys
from hydramem.sharing.connect import connect
memory = connect(sys.argv[1], background=True)
print([name for name in {HEAVY!r} if name in sys.modules], flush=True)
for line in sys.stdin:
    print(memory.remember(line.strip()).id, flush=True)
"""


pytestmark = pytest.mark.usefixtures("environment")


def say(starter: "subprocess.Popen[str]", text: str) -> str:
    starter.stdin.write(f"{text}\n")
    starter.stdin.flush()
    return starter.stdout.readline().strip()


@pytest.mark.slow
def test_a_light_starter_leaves_an_owner_that_survives_its_group(store: Path) -> None:
    with script(STARTER, str(store), start_new_session=True) as starter:
        assert starter.stdout.readline().strip() == "[]"  # what it has imported
        id = say(starter, "Ada leads the billing team.")
        os.killpg(starter.pid, signal.SIGKILL)
    (process,) = owner_processes(store)
    assert note_of(store).pid == process and note_of(store).is_alive
    with hydramem.connect(store) as memory:
        assert isinstance(memory, Client)
        assert memory.get(id).text == "Ada leads the billing team."
    note = note_of(store)
    os.kill(process, signal.SIGTERM)
    wait_until_gone(store, note)
    assert f"owns {store} as process {process}" in (store / background.LOG).read_text(encoding="utf-8")
    with open_here(store) as memory:  # it has left in order
        assert memory.get(id).text == "Ada leads the billing team."


@pytest.mark.slow
def test_of_eight_starters_at_once_one_starts_the_owner_and_again_after_its_death(store: Path) -> None:
    ids = []
    with ExitStack() as running:
        starters = [running.enter_context(script(STARTER, str(store))) for _ in range(8)]
        for starter in starters:
            assert starter.stdout.readline().strip() == "[]"
        for round in range(2):
            for number, starter in enumerate(starters):
                starter.stdin.write(f"Person {number} of round {round} leads team {number}{round}.\n")
                starter.stdin.flush()
            ids += [starter.stdout.readline().strip() for starter in starters]
            (process,) = owner_processes(store)
            if round == 0:
                os.kill(process, signal.SIGKILL)
    with hydramem.connect(store, background=True) as memory:
        assert len({memory.get(id).id for id in ids}) == 16


@pytest.mark.slow
def test_starters_that_are_killed_on_the_way_leave_one_owner_or_none(store: Path) -> None:
    chance = random.Random(7)
    for _ in range(8):
        with ExitStack() as running:
            starters = [script(STARTER, str(store), start_new_session=True) for _ in range(3)]
            for starter in starters:
                running.enter_context(starter)
            time.sleep(chance.uniform(0.05, 1.5))
            for starter in starters:
                os.killpg(starter.pid, signal.SIGKILL)
        assert len(owner_processes(store)) <= 1
        if chance.random() < 0.5:
            for process in owner_processes(store):
                os.kill(process, signal.SIGKILL)
    with hydramem.connect(store, background=True) as memory:
        memory.remember("Ada leads the billing team.")
    assert len(owner_processes(store)) == 1


@pytest.mark.slow
def test_who_connects_while_an_owner_leaves_is_answered(store: Path) -> None:
    store.mkdir()
    (store / "config.yml").write_text("sharing:\n  idle_minutes: 0.002\n", encoding="utf-8")
    owners, names = set(), [f"person {number}" for number in range(4)]

    def come_and_go(name: str) -> None:
        chance = random.Random(name)
        until = time.monotonic() + 10
        while time.monotonic() < until:
            with hydramem.connect(store, background=True) as memory:
                memory.remember(f"{name} met {chance.random()}.")
                owners.add(note_of(store).pid)
            time.sleep(chance.uniform(0.0, 0.6))

    with ThreadPoolExecutor(len(names)) as pool:
        for done in [pool.submit(come_and_go, name) for name in names]:
            done.result()
    assert len(owners) > 1


@pytest.mark.slow
def test_a_command_starts_an_owner_where_settings_say_always_and_it_leaves_when_idle(store: Path) -> None:
    store.mkdir()
    (store / "config.yml").write_text(
        "sharing:\n  background: always\n  idle_minutes: 0.02\n  wait_seconds: 7\n", encoding="utf-8"
    )
    command = f'out=$({sys.executable} -m hydramem --store "$0" remember "Ada leads billing."); echo "$out"'
    done = subprocess.run(["sh", "-c", command, store], capture_output=True, text=True, check=True)
    assert "stored" in done.stdout
    note = note_of(store)
    assert note.wait_seconds == 7
    wait_until_gone(store, note)
    with open_here(store) as memory:
        assert [hit.text for hit in memory.recall("who leads billing?").hits] == ["Ada leads billing."]


@pytest.mark.slow
def test_an_error_of_opening_reaches_clients_as_itself(store: Path) -> None:
    store.mkdir()
    (store / "config.yml").write_text("search:\n  nonsense: 1\n", encoding="utf-8")
    with pytest.raises(ConfigError) as here:
        open_here(store)
    with hydramem.connect(store, background=True) as memory:
        note = note_of(store)
        for _ in range(2):
            with pytest.raises(ConfigError) as there:
                memory.recall("who leads billing?")
            assert str(there.value) == str(here.value)
    wait_until_gone(store, note)
    assert "nonsense" in (store / background.LOG).read_text(encoding="utf-8")


def test_an_owner_that_cannot_even_run_is_given_up_with_its_last_words(
    store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(background, "_MODULE", "hydramem.sharing.nothing_of_this_name")
    with pytest.raises(StorageError, match=r"ended 3 times .*nothing_of_this_name"):
        hydramem.connect(store, background=True)
    wait_for(lambda: not is_locked(store), "the lock is free")


def test_a_store_that_is_not_shared_has_no_owner_in_the_background_and_its_holder_is_named(
    store: Path,
) -> None:
    store.mkdir()
    (store / "config.yml").write_text("sharing: off\n", encoding="utf-8")
    with pytest.raises(InvalidInputError, match="sharing"):
        hydramem.connect(store, background=True)
    assert not owner_processes(store)
    with pytest.raises(InvalidInputError, match="background"):
        hydramem.connect(store, background=True, salvage=True)
    with hydramem.connect(store), pytest.raises(StoreBusyError, match=f"process {os.getpid()}"):
        stop_owner(store)
    assert stop_owner(store) is None


@pytest.mark.parametrize("pid_is", ["dead", "another's"])
def test_a_note_that_a_killed_owner_has_left_misleads_nobody(store: Path, pid_is: str) -> None:
    store.mkdir()
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    pid = ended.pid if pid_is == "dead" else os.getppid()
    left = {"pid": pid, "started": 1, "since": "2026-01-01T00:00:00+00:00", "program": background.PROGRAM}
    left |= {"address": f"unix:{store}/gone.sock", "key": "00", "background": True}
    (store / NOTE).write_text(json.dumps(left), encoding="utf-8")
    assert stop_owner(store) is None
    assert store not in owned_folders()
    with hydramem.connect(store) as memory:
        assert not isinstance(memory, Client)
        assert read_note(store).pid == os.getpid()
    assert read_note(store) is None


@pytest.mark.slow
def test_a_long_path_of_other_letters_will_do(tmp_path: Path) -> None:
    folder = tmp_path / ("記憶" * 20) / ("ü$(x)" * 40) / "Ерехт"
    assert len(os.fsencode(folder)) > 300
    with no_owner_left(folder), hydramem.connect(folder, background=True) as memory:
        assert memory.remember("Ada leads billing.").id
        assert owner_of(folder).pid == owner_processes(folder)[0]
        assert note_of(folder).address.startswith("unix:")


@pytest.mark.slow
def test_a_long_temporary_folder_makes_it_loopback(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / ("t" * 100)).mkdir()
    monkeypatch.delenv("XDG_RUNTIME_DIR", raising=False)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / ("t" * 100)))
    with hydramem.connect(tmp_path / "store"):
        assert read_note(tmp_path / "store").address.startswith("tcp:127.0.0.1:")
        assert owner_of(tmp_path / "store").pid == os.getpid()


@pytest.mark.slow
def test_an_owner_leaves_when_its_folder_is_deleted(store: Path, tmp_path: Path) -> None:
    with hydramem.connect(store, background=True) as memory:
        memory.remember("Ada leads billing.")
        note = note_of(store)
    store.rename(tmp_path / "beside")
    subprocess.run(["rm", "-r", tmp_path / "beside"], check=True)
    wait_for(lambda: not owner_processes(store), "the process has ended")
    assert not store.exists()
    assert not Path(note.address.partition(":")[2]).exists()


def test_a_log_is_bounded(store: Path) -> None:
    store.mkdir()
    (store / background.LOG).write_bytes(b"x" * (background.MOST_LOG_BYTES + 1))
    background.open_log(store).close()
    assert (store / background.LOG).stat().st_size == 0
    assert (store / f"{background.LOG}.1").stat().st_size == background.MOST_LOG_BYTES + 1


def test_an_owner_loads_its_model_before_it_is_asked(tmp_path: Path) -> None:
    with open_here(tmp_path / "store", config=Config(storage=StorageConfig(graph=ENGINE))) as memory:
        embedder = memory._opened.space.embedder
        assert isinstance(embedder, LocalEmbedder) and not embedder.held.loaded
        warm_up(memory)
        assert embedder.held.loaded
