"""A process that is killed while it erases leaves the store as it was, or as it becomes."""

import os
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import hydramem
from hydramem.erase import switch
from tests import ROOT
from tests.erase.readers import traces
from tests.erase.test_erase import ENGINE, NEIGHBOUR, SECRET, config

ENVIRONMENT = {"HYDRAMEM_STORAGE_GRAPH": ENGINE, "HYDRAMEM_EMBEDDING_MODEL": "hash"}
KILLS = 12


def filled(store: Path) -> tuple[str, str]:
    """Make a store with a neighbour and a secret; return their ids."""
    with hydramem.connect(store, config=config()) as memory:
        kept, secret = memory.remember(NEIGHBOUR).id, memory.remember(SECRET).id
        memory.backup()
    return kept, secret


def check(store: Path, kept: str, secret: str) -> bool:
    """Check that a store is whole with or without the secret; return whether it is gone."""
    with hydramem.connect(store, config=config()) as memory:
        ids = {row.id for row in memory.memories()}
        assert kept in ids and ids <= {kept, secret}
        assert memory.doctor().healthy
        assert memory.recall("who runs the billing service?").hits[0].id == kept
    assert not list(store.glob(".erasing-*")) and not (store / "erasing.json").exists()
    gone = secret not in ids
    assert bool(traces(store, "vermilion ledger", ENGINE)) != gone
    return gone


@pytest.mark.parametrize("place", range(6))
def test_a_switch_that_stops_anywhere_is_finished(
    place: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, text in (("graph/a", "old"), ("vectors/b", "old"), ("lost/c", "old"), ("d", "stays")):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    staged = switch.new_staged_folder(tmp_path)
    for name in ("graph/a", "vectors/b"):
        (staged / name).parent.mkdir()
        (staged / name).write_text("new")
    wanted = switch.Switch(staged=staged.name, replaced=("graph", "vectors"), deleted=("lost",))
    steps = 0

    def stop_at(step: object) -> None:
        nonlocal steps
        steps += 1
        if steps > place:
            raise KeyboardInterrupt

    for name in ("rmtree",):
        real = getattr(shutil, name)
        monkeypatch.setattr(switch.shutil, name, lambda path, real=real: (stop_at(path), real(path)))
    monkeypatch.setattr(switch, "sync_folder", stop_at)
    stopped = False
    try:
        switch.switch(tmp_path, wanted)
    except KeyboardInterrupt:
        stopped = True
    monkeypatch.undo()
    assert stopped == (steps > place)
    switch.finish(tmp_path)
    left = {
        path.relative_to(tmp_path).as_posix(): path.read_text()
        for path in tmp_path.rglob("*")
        if path.is_file()
    }
    assert left == {"graph/a": "new", "vectors/b": "new", "d": "stays"}


def test_what_an_erase_left_before_its_note_is_removed(tmp_path: Path) -> None:
    kept, secret = filled(tmp_path)
    (switch.new_staged_folder(tmp_path) / "graph").mkdir()
    assert not check(tmp_path, kept, secret)


@pytest.mark.slow
def test_kills(tmp_path: Path) -> None:
    kept, secret = filled(tmp_path / "whole")
    chance, ends, longest = random.Random(16), list[bool](), 0.0
    for number in range(KILLS + 1):
        store = tmp_path / f"store{number}"
        shutil.copytree(tmp_path / "whole", store)
        child = subprocess.Popen(
            [sys.executable, "-m", "tests.erase.erase_child", str(store), secret],
            stdout=subprocess.PIPE, text=True, env={**os.environ, **ENVIRONMENT}, cwd=ROOT,
        )  # fmt: skip
        assert child.stdout is not None
        with child.stdout:
            assert child.stdout.readline() == "ready\n"
            begun = time.monotonic()
            if number:
                time.sleep(longest * chance.random())
                child.send_signal(signal.SIGKILL)
            done = child.stdout.readline() == "erased\n"
        child.wait()
        longest = longest or time.monotonic() - begun
        ends.append(check(store, kept, secret))
        assert ends[-1] or not done
    assert ends[0] and not all(ends), "no kill came before the switch"
