#!/usr/bin/env python3
"""Build the wheel, install it in empty environments as users do, and fail where it does not work.

Runs on the tools of `release-tools.txt`, in an environment of its own. Each way of installing (pip with
hashes, pipx, `uv tool install`, `uvx`) is tried with the interpreter of this script, and answers in an empty
folder, without the checkout.

    .ci/wheel.py                  in about a minute and a half
    .ci/wheel.py --every-python   by every interpreter that this machine has; one that it lacks is named
"""

import argparse
import hashlib
import json
import os
import platform
import shutil
import subprocess
import sys
import tarfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory

import sbom

ROOT = Path(__file__).resolve().parent.parent
TOOLS = Path(sys.executable).parent
DIST = ROOT / "dist"
PYTHONS = ("3.11", "3.12", "3.13", "3.14")
SECONDS = 900
MOMENT = "1767225600"
"""Time of every file in an archive, unless $SOURCE_DATE_EPOCH says another: the first second of 2026."""


class FailedError(Exception):
    """An installation does not do what it should."""


@dataclass(frozen=True, slots=True)
class Place:
    """A folder of its own for one way of installing, and the environment that its programs get."""

    folder: Path
    environment: Mapping[str, str]

    def run(self, *words: str | Path, input: str = "") -> str:
        """Run a program in an empty folder and return what it printed.

        Raises:
            FailedError: It ended with an error.
        """
        empty = self.folder / "empty"
        empty.mkdir(parents=True, exist_ok=True)
        ended = subprocess.run(  # noqa: S603 - programs that this script has installed
            list(map(str, words)),
            cwd=empty,
            env=dict(self.environment),
            input=input,
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
        )
        if ended.returncode:
            shown = " ".join(map(str, words))
            raise FailedError(f"{shown}: exit {ended.returncode}\n{ended.stdout}{ended.stderr}"[-6000:])
        return ended.stdout


Way = Callable[[Place, Path, Path], Sequence[str | Path]]
"""Installs a wheel (second) for an interpreter (third), and returns the words that call `hydramem`."""


def main() -> int:
    """Build, install and try; return the exit code."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--every-python", action="store_true", help="try every interpreter that is here")
    every = parser.parse_args().every_python
    found = interpreters() if every else {platform.python_version(): Path(sys.executable).resolve()}
    with TemporaryDirectory() as folder:
        try:
            wheel = build(Path(folder))
            for (version, python), (name, way) in product(found.items(), WAYS.items()):
                begin = time.monotonic()
                try_installed(way, place(Path(folder) / f"{name} {version}".replace(" ", "_")), wheel, python)
                print(f"{name}, CPython {version}: works, {time.monotonic() - begin:.0f} s", flush=True)
        except FailedError as error:
            print(f"FAILED: {error}")
            return 1
    return 0


def interpreters() -> dict[str, Path]:
    """Return the interpreters that this machine has, and say which it lacks."""
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    found = {}
    for version in PYTHONS:
        candidates = [
            Path(sys.base_prefix) / "bin" / f"python{version}",
            *(Path(folder) / f"python{version}" for folder in os.environ["PATH"].split(os.pathsep)),
            *pyenv.glob(f"{version}.*/bin/python{version}"),
        ]
        runs = next((path for path in candidates if path.is_file() and version_of(path) == version), None)
        if runs is None:
            print(f"NOT TRIED with CPython {version}: no such interpreter on the path or below {pyenv}")
        else:
            found[version] = runs
    return found


def version_of(python: Path) -> str | None:
    """Return the version of an interpreter that can make environments; None of any other file."""
    code = "import ensurepip, sys, venv; print('{}.{}'.format(*sys.version_info))"
    told = subprocess.run(  # noqa: S603 - an interpreter of this machine
        [python, "-c", code], capture_output=True, text=True, check=False, timeout=60
    )
    return told.stdout.strip() if told.returncode == 0 else None


def place(folder: Path) -> Place:
    """Return a place without settings, stores, models or installations of this machine's user."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("HYDRAMEM_", "PYTHON", "VIRTUAL_ENV"))
    }
    return Place(
        folder,
        {
            **kept,
            "HYDRAMEM_HOME": str(folder / "home"),
            "HYDRAMEM_MODELS": str(folder / "models"),
            "PIPX_HOME": str(folder / "pipx"),
            "PIPX_BIN_DIR": str(folder / "bin"),
            "UV_TOOL_DIR": str(folder / "tools"),
            "UV_TOOL_BIN_DIR": str(folder / "bin"),
            "UV_CONSTRAINT": str(ROOT / "requirements.txt"),
            "UV_PYTHON_DOWNLOADS": "never",
            "UV_LINK_MODE": "hardlink",
        },
    )


def build(folder: Path) -> Path:
    """Build both packages into `dist`, and return the wheel.

    Raises:
        FailedError: The wheel made from the source archive is another than the one made from the checkout.
    """
    shutil.rmtree(DIST, ignore_errors=True)
    wheel, archive = hatch(ROOT, DIST)
    with tarfile.open(archive) as opened:
        opened.extractall(folder, filter="data")
    again, _ = hatch(folder / archive.name.removesuffix(".tar.gz"), folder / "again")
    for file in (wheel, archive):
        print(f"{digest(file)}  {file.name}  {file.stat().st_size / 1e6:.1f} MB")
    if digest(again) != digest(wheel):
        raise FailedError("the wheel made from the source archive differs")
    return wheel


def hatch(source: Path, target: Path) -> tuple[Path, Path]:
    """Build a wheel and a source archive of a folder."""
    environment = {**os.environ, "SOURCE_DATE_EPOCH": os.environ.get("SOURCE_DATE_EPOCH", MOMENT)}
    subprocess.run(  # noqa: S603 - this environment's own builder
        [sys.executable, "-m", "hatchling", "build", "-d", str(target)],
        cwd=source, env=environment, check=True, timeout=SECONDS, capture_output=True,
    )  # fmt: skip
    [wheel], [archive] = (list(target.glob(pattern)) for pattern in ("*.whl", "*.tar.gz"))
    return wheel, archive


def digest(file: Path) -> str:
    """Return the SHA-256 of a file."""
    return hashlib.sha256(file.read_bytes()).hexdigest()


def by_pip_with_hashes(place: Place, wheel: Path, python: Path) -> Sequence[str | Path]:
    """Install exactly `requirements.txt`, checked by hashes, and the wheel; write the bill of materials."""
    environment = place.folder / "environment"
    place.run(TOOLS / "uv", "venv", "-q", "--python", python, environment)
    inside = environment / "bin" / "python"
    place.run(
        TOOLS / "uv", "pip", "sync", "-q", "--require-hashes", "--python", inside, ROOT / "requirements.txt"
    )
    place.run(TOOLS / "uv", "pip", "install", "-q", "--no-deps", "--python", inside, wheel)
    place.run(TOOLS / "uv", "pip", "check", "-q", "--python", inside)
    version = wheel.name.split("-")[1]
    bill = sbom.bill_of_materials(inside, version)
    require(bill == sbom.bill_of_materials(inside, version), "two bills of materials differ")
    (DIST / f"hydramem-{version}.cdx.json").write_text(bill)
    return [environment / "bin" / "hydramem"]


def by_pipx(place: Place, wheel: Path, python: Path) -> Sequence[str | Path]:
    """Install by `pipx install`."""
    constraints = f"--pip-args=-q -c {ROOT / 'constraints.txt'}"
    place.run(TOOLS / "pipx", "install", "-q", "--python", python, constraints, wheel)
    return [place.folder / "bin" / "hydramem"]


def by_uv_tool(place: Place, wheel: Path, python: Path) -> Sequence[str | Path]:
    """Install by `uv tool install`."""
    place.run(TOOLS / "uv", "tool", "install", "-q", "--python", python, wheel)
    return [place.folder / "bin" / "hydramem"]


def by_uvx(place: Place, wheel: Path, python: Path) -> Sequence[str | Path]:
    """Install nothing: `uvx` makes an environment for each call, and keeps it in its cache."""
    return [TOOLS / "uvx", "-q", "--python", python, "--from", wheel, "hydramem"]


WAYS: Mapping[str, Way] = {
    "pip with hashes": by_pip_with_hashes,
    "uv tool install": by_uv_tool,
    "pipx install": by_pipx,
    "uvx": by_uvx,
}


def try_installed(way: Way, place: Place, wheel: Path, python: Path) -> None:
    """Install in one way, and use what is there.

    Raises:
        FailedError: A command fails or answers wrongly.
    """
    hydramem = way(place, wheel, python)
    version = place.run(*hydramem, "--version").strip()
    require(version == wheel.name.split("-")[1], f"--version says {version}")
    if way is by_pip_with_hashes:  # the others install the same program
        require("Priya Raman" in place.run(*hydramem, "demo"), "the demo does not find its answers")
    place.run(*hydramem, "remember", "Ada leads the billing team.")
    hits = json.loads(place.run(*hydramem, "recall", "who leads billing?", "--json"))["hits"]
    require("Ada leads" in hits[0]["text"], f"recall answers {hits}")
    tools = served_tools(place.run(*hydramem, "serve", input=requests()))
    require({"recall", "remember"} <= tools, f"the server lists {sorted(tools)}")
    place.run(*hydramem, "stop")


def require(condition: bool, otherwise: str) -> None:
    """Raise a FailedError where a condition does not hold."""
    if not condition:
        raise FailedError(otherwise)


def requests() -> str:
    """Return what a client of MCP says first, over stdio."""
    client = {"name": "release", "version": "1"}
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client}
    messages = (
        {"id": 1, "method": "initialize", "params": hello},
        {"method": "notifications/initialized"},
        {"id": 2, "method": "tools/list", "params": {}},
    )
    return "".join(json.dumps({"jsonrpc": "2.0", **message}) + "\n" for message in messages)


def served_tools(said: str) -> set[str]:
    """Return the names of the tools that a server has listed."""
    answers = {answer.get("id"): answer for answer in map(json.loads, said.splitlines())}
    return {tool["name"] for tool in answers[2]["result"]["tools"]}


if __name__ == "__main__":
    sys.exit(main())
