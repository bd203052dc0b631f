"""The Dockerfile says what the documentation promises; `.ci/image.py` runs what it says."""

import fnmatch
import importlib.util
import re
import tomllib
from types import ModuleType

import pytest

from hydramem.cli.main import build
from hydramem.core.config import ServerConfig
from tests import ROOT

DOCKERFILE = (ROOT / "Dockerfile").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def image() -> ModuleType:
    spec = importlib.util.spec_from_file_location("image_check", ROOT / ".ci" / "image.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_it_serves_over_http_as_a_user_without_rights(image: ModuleType) -> None:
    said = image.read(ROOT / "Dockerfile")
    stage = DOCKERFILE[DOCKERFILE.rindex("FROM ") :]
    assert re.findall(r"^USER (.*)$", stage, re.MULTILINE) == ["hydramem"]
    assert f"useradd --uid {image.USER} " in stage
    assert said.command == ["hydramem", "serve", "--transport", "http", "--host", "0.0.0.0"]
    assert said.port == ServerConfig().port
    assert said.volume == said.variables["HYDRAMEM_HOME"] == "/data"
    assert not [name for name in said.variables if "TOKEN" in name], (
        "a secret is given when a container starts"
    )
    assert f"127.0.0.1', {said.port}," in said.health[-1]
    compile(said.health[-1], "health", "exec")


def test_its_command_is_one_that_the_program_has(image: ModuleType) -> None:
    program, *words = image.read(ROOT / "Dockerfile").command
    assert program == "hydramem"
    command, bound, _ = build().parse_args(words)
    assert command.__name__ == "serve"
    assert bound.arguments["host"] == "0.0.0.0"


def test_the_context_has_what_the_build_reads_and_little_else() -> None:
    lines = (ROOT / ".dockerignore").read_text().splitlines()
    let_in = {line.removeprefix("!") for line in lines if line.startswith("!")}
    assert all((ROOT / name).exists() for name in let_in)
    needed = {"hydramem", "docs", "pyproject.toml", "README.md", "LICENSE", "NOTICE"}
    needed |= {"requirements.txt", "requirements-postgres.txt"}
    assert let_in == needed
    assert lines[1] == "*"
    assert not any(
        fnmatch.fnmatch(name, pattern) for name in (".git", ".venv", "tests") for pattern in let_in
    )


def test_it_installs_what_the_check_installs(image: ModuleType) -> None:
    for name in image.REQUIREMENTS:
        assert f" -r {name}" in DOCKERFILE
    pins = (ROOT / "requirements-postgres.txt").read_text()
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    for wanted in project["optional-dependencies"]["postgres"]:
        assert wanted.replace("[binary]", "") in pins and "--hash=sha256:" in pins


def test_the_builder_is_the_one_that_the_check_runs() -> None:
    [builder] = re.findall(r"hatchling==(\S+)", DOCKERFILE)
    assert f"hatchling=={builder}\n" in (ROOT / ".ci" / "release-tools.txt").read_text()
    assert f"hatchling=={builder}\n" in (ROOT / "constraints.txt").read_text()
