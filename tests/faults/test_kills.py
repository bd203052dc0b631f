"""Processes that are killed while they use a store: no acknowledged write is lost or doubled."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests import ROOT
from tests.faults.damage import ENGINE
from tests.faults.kills_child import INSIDE
from tests.faults.results import note_results, rounds

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(3600),
    pytest.mark.skipif(sys.platform != "linux", reason="forks processes that have threads"),
]


def kill(case: str, folder: Path, times: int, seed: int) -> dict[str, int]:
    """Kill processes in a case, and return the counts of what was checked."""
    command = [sys.executable, "-m", "tests.faults.kills_child", case, str(folder), str(times), str(seed)]
    ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr[-4000:]
    counts: dict[str, int] = json.loads(ended.stdout.splitlines()[-1])
    note_results(ENGINE, f"kills: {case}", counts)
    return counts


def test_what_was_acknowledged_survives_kills_in_mixed_operations(tmp_path: Path) -> None:
    assert kill("mixed", tmp_path, rounds(8, full=200), 3)["acknowledged"] > 0


def test_so_it_does_while_the_clock_jumps(tmp_path: Path) -> None:
    assert kill("clock", tmp_path, rounds(5, full=60), 9)["acknowledged"] > 0


@pytest.mark.parametrize("case", sorted(INSIDE))
def test_a_kill_inside_a_long_operation_leaves_what_was_or_what_is_to_be(tmp_path: Path, case: str) -> None:
    kill(case, tmp_path, rounds(4, full=40), 5)
