"""Processes that are killed at random while they share a store: nothing is lost, doubled or left behind."""

import json
import random
import subprocess
import sys
import threading
import time
from pathlib import Path

import psutil
import pytest

from hydramem.storage.files.folder_lock import is_locked
from tests.engines import DISK_ENGINE
from tests.faults.results import note_results, rounds
from tests.sharing.background_owners import wait_for
from tests.sharing.served import served
from tests.sharing.sockets import sockets_of

_SECONDS = rounds(8, full=120)
_SEED = 17


@pytest.mark.slow
@pytest.mark.timeout(_SECONDS * 6 + 300)
def test_nothing_is_lost_doubled_or_refused_while_processes_are_killed(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "tests.sharing.soak_child", str(tmp_path), str(_SECONDS), str(_SEED)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    counts = json.loads(done.stdout)
    assert counts["owners killed"] + counts["clients killed"] >= _SECONDS / 4
    assert counts["writes acknowledged"] > 0 and counts["memories"] >= counts["writes acknowledged"]
    note_results(DISK_ENGINE, "shared by processes that are killed", counts)


_CLIENT = """
import sys, hydramem
with hydramem.connect(sys.argv[1]) as memory:
    while True:
        memory.remember("Session " + sys.argv[2] + " was short.")
        memory.recall("short session", limit=3)
"""


@pytest.mark.slow
def test_sessions_that_are_started_and_killed_leave_nothing(tmp_path: Path) -> None:
    draw, store = random.Random(17), tmp_path / "store"
    with served(store) as owner:
        process = psutil.Process()
        owner.memory.remember("The first one loads what the others need.")
        for number in range(12):
            if number == 5:
                descriptors, threads = process.num_fds(), threading.active_count()
            client = subprocess.Popen(
                [sys.executable, "-c", _CLIENT, str(store), str(number)], stderr=subprocess.DEVNULL
            )
            time.sleep(draw.uniform(0.0, 1.2))  # some are killed while they start
            client.kill()
            client.wait()
        wait_for(lambda: not owner.server._channels and not owner.server._calls, "connections and calls end")
        assert process.num_fds() <= descriptors + 4
        assert threading.active_count() <= threads + 2
        assert [each for each in process.children(recursive=True) if str(store) in each.cmdline()] == []
        texts = [row.text for row in owner.memory.memories(limit=100)]
        assert len(set(texts)) == len(texts) > 1
    assert not is_locked(store) and sockets_of(store) == []
