"""Processes that are killed while they use a store: no acknowledged write is lost or doubled."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests import ROOT
from tests.engines import DISK_ENGINE
from tests.faults.kills_child import INSIDE
from tests.faults.results import note_results, rounds

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(3600),
    pytest.mark.skipif(sys.platform != "linux", reason="forks processes that have threads"),
]


def kill(how: str, folder: Path, times: int, seed: int) -> dict[str, dict[str, int]]:
    """Kill processes, and return the counts of what was checked by case."""
    command = [sys.executable, "-m", "tests.faults.kills_child", how, str(folder), str(times), str(seed)]
    ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, (ended.stdout[-500:], ended.stderr[-4000:])
    found = {counts.pop("case"): counts for counts in map(json.loads, ended.stdout.splitlines())}
    for case, counts in found.items():
        note_results(DISK_ENGINE, f"kills: {case}", counts)
    return found


def test_what_was_acknowledged_survives_kills_in_mixed_operations(tmp_path: Path) -> None:
    assert kill("mixed", tmp_path, rounds(12, full=200), 3)["mixed"]["acknowledged"] > 0


def test_so_it_does_while_the_clock_jumps(tmp_path: Path) -> None:
    assert kill("clock", tmp_path, rounds(5, full=60), 9)["clock"]["acknowledged"] > 0


def test_a_kill_inside_a_long_operation_leaves_what_was_or_what_is_to_be(tmp_path: Path) -> None:
    found = kill("inside", tmp_path, rounds(3, full=40), 5)
    assert {case: counts["kills"] for case, counts in found.items()} == dict.fromkeys(
        INSIDE, rounds(3, full=40)
    )
