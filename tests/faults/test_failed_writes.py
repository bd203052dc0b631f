"""A graph engine whose disk fails under it: nothing acknowledged is lost, and it works again afterwards.

Each test is of both engines, in processes of their own.
"""

import errno
import json
import random
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tests import ROOT
from tests.faults.failed_write_child import BEFORE
from tests.faults.failing_calls import SYNCS, TRUNCATIONS, WRITES, environment
from tests.faults.results import rounds

Rule = dict[str, int]
Steps = dict[str, dict[str, Any]]
FILLED = sorted(f"row {number}" for number in range(BEFORE))
ENGINES = ("ladybug", pytest.param("kuzu", marks=pytest.mark.slow))
REFUSALS = {
    "full": ({"kinds": WRITES, "error": errno.ENOSPC}, "DiskFullError"),
    "torn": ({"kinds": WRITES, "error": errno.ENOSPC, "partial": 100}, "DiskFullError"),
    "input/output error": ({"kinds": WRITES, "error": errno.EIO}, "StorageError"),
    "sync": ({"kinds": SYNCS, "error": errno.EIO, "times": 1}, "StorageError"),
}
CASES: dict[str, tuple[str, Rule]] = {
    **{name: ("write", rule) for name, (rule, _) in REFUSALS.items()},
    "first write": ("first write", {"kinds": WRITES, "error": errno.ENOSPC, "partial": 10}),
    "no sync": ("write", {"kinds": SYNCS, "error": errno.EIO}),
    "no cut": ("write", {"kinds": WRITES | TRUNCATIONS, "error": errno.EIO, "partial": 100}),
}
"""What fails, by a name of it."""


def steps(graph: str, folder: Path, cases: Sequence[tuple[str, Rule]]) -> list[Steps]:
    """Run cases in a child process; return what it said of the steps of each."""
    command = [sys.executable, "-m", "tests.faults.failed_write_child", graph, str(folder), json.dumps(cases)]
    ended = subprocess.run(
        command, env=environment(), cwd=ROOT, capture_output=True, text=True, timeout=240, check=False
    )
    found: list[Steps] = []
    for line in map(json.loads, ended.stdout.splitlines()):
        if line["step"] == "begin":
            found.append({})
        found[-1][line["step"]] = line
    assert ended.returncode == 0, (ended.returncode, found[-1:], ended.stderr[-2000:])
    return found


@pytest.fixture(scope="module", params=ENGINES)
def cases(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Steps]:
    """The steps of each case, on one of the engines."""
    found = steps(request.param, tmp_path_factory.mktemp("cases"), list(CASES.values()))
    return dict(zip(CASES, found, strict=True))


def ended(said: Steps) -> None:
    """Assert that a case came to its end, with its rows in the file as in memory."""
    assert said["end"]["code"] == 0, said
    assert said["rows"]["rows"] == said["opened"]["rows"]


@pytest.mark.parametrize("name", REFUSALS)
def test_a_write_that_fails_leaves_nothing_and_later_ones_are_kept(
    cases: dict[str, Steps], name: str
) -> None:
    said = cases[name]
    ended(said)
    assert said["calls"]["failed"] >= 1
    assert said["write"]["refused"] == REFUSALS[name][1]
    assert "nothing of the write is stored" in said["write"]["text"]
    assert said["read"]["rows"] == FILLED
    assert said["write again"].get("done") and said["later write"].get("done")
    assert said["rows"]["rows"] == sorted([*FILLED, "unsure", "later"])


def test_the_first_write_of_a_log_may_fail_too(cases: dict[str, Steps]) -> None:
    said = cases["first write"]
    ended(said)
    assert said["write"]["refused"] == "DiskFullError"
    assert said["read"]["rows"] == FILLED
    assert said["rows"]["rows"] == sorted([*FILLED, "unsure", "later"])


def test_a_file_that_cannot_be_synced_at_all_is_used_again_when_it_can(cases: dict[str, Steps]) -> None:
    said = cases["no sync"]
    ended(said)
    assert said["write"]["refused"] == said["read"]["refused"] == "StorageError"
    assert said["rows"]["rows"] == sorted([*FILLED, "unsure", "later"])


def test_a_log_that_cannot_be_cut_back_is_cut_before_the_next_use(cases: dict[str, Steps]) -> None:
    said = cases["no cut"]
    ended(said)
    assert "cannot be cut off" in said["write"]["text"]
    assert said["read"]["refused"] == "StorageError"
    assert said["rows"]["rows"] == sorted([*FILLED, "unsure", "later"])


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize("graph", ENGINES)
def test_a_checkpoint_may_fail_at_any_call(tmp_path: Path, graph: str) -> None:
    kinds = (WRITES, SYNCS)
    counted = steps(
        graph, tmp_path / "counted", [("checkpoint", {"kinds": kind, "times": 0}) for kind in kinds]
    )
    draw, rules = random.Random(11), list[Rule]()
    for kind, said in zip(kinds, counted, strict=True):
        calls = range(said["calls"]["seen"])
        chosen = {*calls[:2], *draw.sample(calls, min(len(calls), rounds(3, full=12)))}
        rules += [
            {"kinds": kind, "first": first, "times": times} for first in sorted(chosen) for times in (1, -1)
        ]
    assert {rule["kinds"] for rule in rules} == {*kinds}
    found = steps(graph, tmp_path, [("checkpoint", rule) for rule in rules])
    for rule, said in zip(rules, found, strict=True):
        ended(said)
        assert said["calls"]["failed"] >= 1, rule
        assert said["read"]["rows"] == FILLED, rule
        assert said["later write"].get("done") and said["checkpoint again"].get("done"), rule
        assert said["rows"]["rows"] == sorted([*FILLED, "later"]), rule
