"""Command lines, run in this process where their words matter, as a process where their manners do."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from hydramem.cli.main import run

ENGINE = os.environ.get("HYDRAMEM_TEST_ENGINE", "ladybug")


@pytest.fixture(autouse=True)
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, value in (("HYDRAMEM_STORAGE_GRAPH", ENGINE), ("HYDRAMEM_EMBEDDING_MODEL", "hash")):
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("HYDRAMEM_HOME", str(tmp_path / "store"))
    monkeypatch.chdir(tmp_path)
    return tmp_path / "store"


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


def process(*words: str, **options: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "hydramem", *words], capture_output=True, text=True, timeout=60, **options
    )
