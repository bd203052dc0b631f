"""The wheel and the source archive hold what they should, and nothing else; two builds are the same bytes."""

import hashlib
import subprocess
import sys
import tarfile
import zipfile
from email.parser import Parser
from pathlib import Path

import pytest

from tests.release.conftest import Packages, build

pytestmark = pytest.mark.slow


def files_of_archive(archive: Path) -> set[str]:
    with tarfile.open(archive) as opened:
        return {name.partition("/")[2] for name in opened.getnames()}


def files_of_wheel(wheel: Path) -> set[str]:
    with zipfile.ZipFile(wheel) as opened:
        return set(opened.namelist())


def metadata(wheel: Path) -> str:
    with zipfile.ZipFile(wheel) as opened:
        [name] = [name for name in opened.namelist() if name.endswith(".dist-info/METADATA")]
        return opened.read(name).decode()


def digests(packages: Packages) -> dict[str, str]:
    both = (packages.wheel, packages.archive)
    return {file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in both}


def test_the_source_archive_has_every_tracked_file(packages: Packages, tracked: frozenset[str]):
    """Tests with their folders and conftest, benchmarks, skills, settings, constraints and the changelog."""
    assert files_of_archive(packages.archive) == tracked | {"PKG-INFO"}


def test_the_wheel_has_every_tracked_file_of_the_package(packages: Packages, tracked: frozenset[str]):
    package = {name for name in tracked if name.startswith("hydramem/")}
    carried = {
        f"hydramem/data/{name}"
        for name in tracked
        if (name.startswith("docs/") and name.endswith(".md")) or name.startswith("skills/")
    }
    found = {name for name in files_of_wheel(packages.wheel) if ".dist-info/" not in name}
    assert found == package | carried
    assert {"hydramem/py.typed", "hydramem/__init__.pyi"} <= found


def test_the_notice_stands_once_beside_the_licence(packages: Packages):
    names = files_of_wheel(packages.wheel)
    assert [name.partition("/")[2] for name in sorted(names) if name.endswith(("NOTICE", "LICENSE"))] == [
        "licenses/LICENSE",
        "licenses/NOTICE",
    ]


def test_metadata_names_no_address_that_is_not_there(packages: Packages):
    """The project has no public address yet, and invents none."""
    headers = Parser().parsestr(metadata(packages.wheel), headersonly=True)
    assert headers.get_all("Project-URL") is None
    assert headers["License-Expression"] == "MIT"


def test_two_builds_in_different_folders_are_the_same_bytes(
    packages: Packages, tracked: frozenset[str], tmp_path: Path
):
    again = build(tracked, tmp_path / "of another name")
    assert digests(again) == digests(packages)


def test_an_installation_in_a_folder_finds_its_own_pages(
    packages: Packages, tracked: frozenset[str], tmp_path: Path
):
    """As by `pip install --target`: no environment knows this distribution."""
    with zipfile.ZipFile(packages.wheel) as opened:
        opened.extractall(tmp_path / "target")
    command = "from hydramem.cli.handwritten_commands import pages; print(*pages(), sep='\\n')"
    told = subprocess.run(
        [sys.executable, "-c", command],
        cwd=tmp_path, env={"PYTHONPATH": str(tmp_path / "target")},
        capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    assert told.returncode == 0, told.stderr
    root = tmp_path / "target" / "hydramem" / "data"
    found = {str(Path(line).relative_to(root)) for line in told.stdout.splitlines()}
    assert found == {name for name in tracked if name.startswith("docs/") and name.endswith(".md")}
