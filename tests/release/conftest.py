"""The wheel and the source archive, built from a clean copy of the tracked files."""

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests import ROOT

MOMENT = "1767225600"  # of every file in an archive: the first second of 2026


@dataclass(frozen=True)
class Packages:
    """What one build made."""

    wheel: Path
    archive: Path


@pytest.fixture(scope="session")
def tracked() -> frozenset[str]:
    """The files of the checkout that git tracks and that are there, relative to its root."""
    if not (ROOT / ".git").exists():
        pytest.skip("not a checkout: nothing tells which files are tracked")
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True)
    return frozenset(name for name in listed.stdout.split("\0") if name and (ROOT / name).is_file())


@pytest.fixture(scope="session")
def packages(tracked: frozenset[str], tmp_path_factory: pytest.TempPathFactory) -> Packages:
    """The packages of one build."""
    return build(tracked, tmp_path_factory.mktemp("build") / "checkout")


def build(tracked: frozenset[str], copy: Path) -> Packages:
    """Copy the tracked files into a new folder, and build the wheel and the source archive there."""
    pytest.importorskip("hatchling", reason="the extra test is not installed")
    for name in tracked:
        target = copy / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / name, target)
    told = subprocess.run(
        [sys.executable, "-m", "hatchling", "build"],
        cwd=copy, env={**os.environ, "SOURCE_DATE_EPOCH": MOMENT},
        capture_output=True, text=True, timeout=200,
    )  # fmt: skip
    assert told.returncode == 0, told.stderr
    [wheel], [archive] = (list((copy / "dist").glob(pattern)) for pattern in ("*.whl", "*.tar.gz"))
    return Packages(wheel, archive)
