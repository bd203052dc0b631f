"""A whole memory whose disk fails or is full: what was answered holds, reads go on, and writes work again."""

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


def run(engine: str, store: Path, case: str) -> None:
    """Do a case in a child process, which asserts by itself."""
    command = [sys.executable, "-m", "tests.faults.memory_child", engine, str(store), case]
    ended = subprocess.run(
        command, env=environment(), cwd=ROOT, capture_output=True, text=True, timeout=120, check=False
    )
    assert ended.returncode == 0 and '"end"' in ended.stdout, (ended.stdout, ended.stderr[-3000:])


@pytest.mark.parametrize("engine", ENGINES)
def test_what_the_vector_store_cannot_take_is_pending(tmp_path: Path, engine: str) -> None:
    run(engine, tmp_path / "store", "vectors")


@pytest.mark.parametrize("engine", ENGINES)
def test_a_write_whose_log_fails_is_refused_and_later_ones_are_kept(tmp_path: Path, engine: str) -> None:
    run(engine, tmp_path / "store", "log")


@pytest.mark.parametrize("engine", ENGINES)
def test_a_group_whose_commit_fails_is_told_so_or_stored_call_by_call(tmp_path: Path, engine: str) -> None:
    run(engine, tmp_path / "store", "group")


@pytest.mark.parametrize("engine", ENGINES)
def test_a_full_disk_is_read_closed_and_opened(small_disk: Path, engine: str) -> None:
    run(engine, small_disk / "store", "full")
