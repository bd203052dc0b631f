"""Command lines, run in this process where their words matter, as a process where their manners do."""

import itertools
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import hydramem
from hydramem.cli.main import run
from tests.engines import DISK_ENGINE

SETTINGS = {"HYDRAMEM_STORAGE_GRAPH": DISK_ENGINE, "HYDRAMEM_EMBEDDING_MODEL": "hash"}
"""On disk: each command opens the store of the one before."""
_numbers = itertools.count()


@pytest.fixture(autouse=True)
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, value in SETTINGS.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("HYDRAMEM_HOME", str(tmp_path / "store"))
    monkeypatch.chdir(tmp_path)
    return tmp_path / "store"


@pytest.fixture(scope="module")
def open_store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    with pytest.MonkeyPatch.context() as patch:
        for name, value in SETTINGS.items():
            patch.setenv(name, value)
        with hydramem.connect(tmp_path_factory.mktemp("open") / "store") as memory:
            memory.remember("Loaded once.", project="first")
            yield memory.folder


@pytest.fixture
def own_project(open_store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Have commands use a store that is open in this process, in a project of the test's own."""
    monkeypatch.setenv("HYDRAMEM_HOME", str(open_store))
    monkeypatch.setenv("HYDRAMEM_PROJECT", f"project{next(_numbers)}")


in_own_project = pytest.mark.usefixtures("own_project")


class Shell:
    """Runs command lines; an answer is what was printed."""

    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self.capsys = capsys

    def ok(self, *words: str) -> str:
        code = run(words)
        out, err = self.capsys.readouterr()
        assert code == 0, err
        return out

    def json(self, *words: str) -> object:
        return json.loads(self.ok(*words, "--json"))

    def wrong(self, *words: str, code: int = 1) -> str:
        assert run(words) == code
        out, err = self.capsys.readouterr()
        assert out == ""
        return err


@pytest.fixture
def shell(capsys: pytest.CaptureFixture[str]) -> Shell:
    return Shell(capsys)


_AND_MODULES = """
import sys
from hydramem.cli.main import main
try:
    main()
except SystemExit as end:
    code = end.code
print(*sys.modules, file=sys.stderr)
sys.exit(code)
"""


def loads(*words: str) -> tuple[subprocess.CompletedProcess[str], set[str]]:
    """Run a command in a process; return also the modules that it has loaded."""
    told = subprocess.run(
        [sys.executable, "-c", _AND_MODULES, *words], capture_output=True, text=True, timeout=60
    )
    return told, set(told.stderr.splitlines()[-1].split())


def process(*words: str, **options: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "hydramem", *words], capture_output=True, text=True, timeout=60, **options
    )
