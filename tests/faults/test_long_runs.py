"""Many writes and many openings in one process: memory, descriptors, threads and recall stay as they were."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests import ROOT
from tests.engines import DISK_ENGINE
from tests.faults.results import note_results, rounds

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(7200),
    pytest.mark.skipif(sys.platform != "linux", reason="reads /proc"),
]
MOST_MB = 100
SPARE = 6
MOST_TIMES = 3
"""A store that keeps what upkeep must remove takes many times as long; the same store varies by half."""
MORE_THREADS = 16
"""LanceDB starts threads as there is work that blocks; one an opening would be three times as many."""


def measured(case: str, folder: Path, times: int) -> dict[str, float]:
    """Run a case in a process of its own and return what it measured."""
    command = [sys.executable, "-m", "tests.faults.long_runs_child", case, str(folder), str(times)]
    ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr[-4000:]
    counts: dict[str, float] = json.loads(ended.stdout)
    note_results(DISK_ENGINE, f"long runs: {case}", counts)
    return counts


def test_single_writes_leave_memory_descriptors_and_recall_as_they_were(tmp_path: Path) -> None:
    found = measured("writes", tmp_path, rounds(120, full=20_000))
    assert found["problems"] == 0
    assert found["MB more"] <= MOST_MB
    assert found["descriptors more"] <= SPARE
    assert found["recall, times a bulk load's"] <= MOST_TIMES


def test_openings_leave_memory_descriptors_and_threads_as_they_were(tmp_path: Path) -> None:
    found = measured("openings", tmp_path, rounds(20, full=500))
    assert found["MB more"] <= MOST_MB
    assert found["descriptors more"] <= SPARE
    assert found["threads more"] <= MORE_THREADS
