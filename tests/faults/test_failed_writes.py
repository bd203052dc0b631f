"""A graph engine whose disk fails under it: nothing acknowledged is lost, and it works again afterwards."""

import errno
import json
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests import ROOT
from tests.faults.failed_write_child import BEFORE
from tests.faults.failing_calls import SYNCS, TRUNCATIONS, WRITES, environment

FILLED = sorted(f"row {number}" for number in range(BEFORE))
ENGINES = ("ladybug", "kuzu")


def steps(engine: str, folder: Path, case: str, **rule: int) -> dict[str, dict[str, Any]]:
    """Run a case in a child process; return what it said of each step."""
    command = [sys.executable, "-m", "tests.faults.failed_write_child", engine, str(folder), case]
    ended = subprocess.run(
        [*command, json.dumps(rule)],
        env=environment(),
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    said = {line["step"]: line for line in map(json.loads, ended.stdout.splitlines())}
    assert ended.returncode == 0 and "end" in said, (ended.returncode, said, ended.stderr[-2000:])
    return said


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    ("rule", "refused"),
    [
        pytest.param({"kinds": WRITES, "error": errno.ENOSPC}, "DiskFullError", id="full"),
        pytest.param({"kinds": WRITES, "error": errno.ENOSPC, "partial": 100}, "DiskFullError", id="torn"),
        pytest.param({"kinds": WRITES, "error": errno.EIO}, "StorageError", id="input/output error"),
        pytest.param({"kinds": SYNCS, "error": errno.EIO, "times": 1}, "StorageError", id="sync"),
    ],
)
def test_a_write_that_fails_leaves_nothing_and_later_ones_are_kept(
    tmp_path: Path, engine: str, rule: dict[str, int], refused: str
) -> None:
    said = steps(engine, tmp_path, "write", **rule)
    assert said["calls"]["failed"] >= 1
    assert said["write"]["refused"] == refused
    assert "nothing of the write is stored" in said["write"]["text"]
    assert said["read"]["rows"] == FILLED
    assert said["write again"].get("done") and said["later write"].get("done")
    assert said["rows"]["rows"] == said["opened"]["rows"] == sorted([*FILLED, "unsure", "later"])


@pytest.mark.parametrize("engine", ENGINES)
def test_the_first_write_of_a_log_may_fail_too(tmp_path: Path, engine: str) -> None:
    said = steps(engine, tmp_path, "first write", kinds=WRITES, error=errno.ENOSPC, partial=10)
    assert said["write"]["refused"] == "DiskFullError"
    assert said["read"]["rows"] == FILLED
    assert said["rows"]["rows"] == said["opened"]["rows"] == sorted([*FILLED, "unsure", "later"])


@pytest.mark.parametrize("engine", ENGINES)
def test_a_file_that_cannot_be_synced_at_all_is_used_again_when_it_can(tmp_path: Path, engine: str) -> None:
    said = steps(engine, tmp_path, "write", kinds=SYNCS, error=errno.EIO)
    assert said["write"]["refused"] == said["read"]["refused"] == "StorageError"
    assert said["rows"]["rows"] == said["opened"]["rows"] == sorted([*FILLED, "unsure", "later"])


@pytest.mark.parametrize("engine", ENGINES)
def test_a_log_that_cannot_be_cut_back_is_cut_before_the_next_use(tmp_path: Path, engine: str) -> None:
    rule = {"kinds": WRITES | TRUNCATIONS, "error": errno.EIO, "partial": 100}
    said = steps(engine, tmp_path, "write", **rule)
    assert "cannot be cut off" in said["write"]["text"]
    assert said["read"]["refused"] == "StorageError"
    assert said["rows"]["rows"] == said["opened"]["rows"] == sorted([*FILLED, "unsure", "later"])


@pytest.mark.slow
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    "rule",
    [
        pytest.param({"kinds": WRITES, "times": 1}, id="one write"),
        pytest.param({"kinds": WRITES, "first": 1}, id="all later writes"),
        pytest.param({"kinds": SYNCS, "times": 1}, id="sync"),
    ],
)
def test_a_checkpoint_that_fails_loses_nothing(tmp_path: Path, engine: str, rule: dict[str, int]) -> None:
    check_checkpoint(engine, tmp_path, rule)


def check_checkpoint(engine: str, folder: Path, rule: dict[str, int]) -> None:
    """Assert that a checkpoint that fails leaves every row, and that the next one succeeds."""
    said = steps(engine, folder, "checkpoint", **rule)
    assert said["calls"]["failed"] >= 1
    assert said["read"]["rows"] == FILLED
    assert said["later write"].get("done") and said["checkpoint again"].get("done")
    assert said["rows"]["rows"] == said["opened"]["rows"] == sorted([*FILLED, "later"])


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("kinds", [WRITES, SYNCS, TRUNCATIONS])
def test_a_checkpoint_may_fail_at_any_call(tmp_path: Path, engine: str, kinds: int) -> None:
    counted = tmp_path / "counted"
    counted.mkdir()
    number = steps(engine, counted, "checkpoint", kinds=kinds, times=0)["calls"]["seen"]
    draw = random.Random(11)
    for first in sorted(draw.sample(range(number), min(number, 12))):
        for times in (1, -1):
            folder = tmp_path / f"{first} {times}"
            folder.mkdir()
            check_checkpoint(engine, folder, {"kinds": kinds, "first": first, "times": times})
