"""Eight processes write and read while owner and clients are killed at random: nothing is lost or doubled."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.faults.damage import ENGINE
from tests.faults.results import note_results, rounds

_SECONDS = rounds(25, full=120)
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
    note_results(ENGINE, "shared by processes that are killed", counts)
