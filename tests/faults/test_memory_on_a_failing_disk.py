"""A whole memory whose disk fails or is full: what was answered holds, reads go on, and writes work again.

Each test is of both engines, in processes of their own.
"""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests import ROOT
from tests.faults.failing_calls import environment

pytestmark = pytest.mark.slow
ENGINES = ("ladybug", "kuzu")


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of 64 MiB, which can be full; skipped where none can be mounted."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=64m", "tmpfs", str(folder)]
    if not sys.platform.startswith("linux") or os.geteuid() != 0:
        pytest.skip("a small disk needs Linux and root")
    if subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("tmpfs cannot be mounted here")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


def run(graph: str, folder: Path, *cases: str) -> tuple[str, str]:
    """Do cases in a child process, which asserts by itself; return what it said, and its error."""
    command = [sys.executable, "-m", "tests.faults.memory_child", graph, str(folder), *cases]
    ended = subprocess.run(
        command, env=environment(), cwd=ROOT, capture_output=True, text=True, timeout=240, check=False
    )
    return ended.stdout, ended.stderr[-3000:]


@pytest.fixture(scope="module", params=ENGINES)
def said(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str]:
    """What a process said that did the cases of a disk that fails, on one of the engines."""
    return run(request.param, tmp_path_factory.mktemp("stores"), "vectors", "log", "group")


def test_what_the_vector_store_cannot_take_is_pending(said: tuple[str, str]) -> None:
    assert '"vectors ended"' in said[0], said


def test_a_write_whose_log_fails_is_refused_and_later_ones_are_kept(said: tuple[str, str]) -> None:
    assert '"log ended"' in said[0], said


def test_a_group_whose_commit_fails_is_told_so_or_stored_call_by_call(said: tuple[str, str]) -> None:
    assert '"group ended"' in said[0], said


@pytest.mark.parametrize("graph", ENGINES)
def test_a_full_disk_is_read_closed_and_opened(small_disk: Path, graph: str) -> None:
    said = run(graph, small_disk, "full")
    assert '"full ended"' in said[0], said
