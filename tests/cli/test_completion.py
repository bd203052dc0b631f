"""Shell completion: the script is right for a real shell, and is installed where it is found."""

import shutil
import subprocess
from pathlib import Path

import pytest

from hydramem.cli.main import run


@pytest.mark.costly  # all commands are built, and written for a shell
@pytest.mark.skipif(shutil.which("bash") is None, reason="bash is not installed here")
def test_bash_completes_commands_and_options(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(("completion", "bash")) == 0
    script = capsys.readouterr().out
    asked = 'COMP_WORDS=(hydramem %s); COMP_CWORD=%d; _hydramem; echo "${COMPREPLY[@]}"\n'
    done = subprocess.run(
        ["bash"],
        input=script + asked % ("reca", 1) + asked % ("recall --lim", 2),
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.split() == ["recall", "recalled", "--limit"]


@pytest.mark.costly  # all commands are built, and written for a shell
def test_it_is_installed_for_a_shell(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    assert run(("completion", "fish", "--install")) == 0
    (script,) = tmp_path.rglob("hydramem.fish")
    assert str(script) in capsys.readouterr().out.replace("\n", "") and "recall" in script.read_text()
