"""Pages cannot drift: what is generated is fresh, what is shown runs, and every surface has the same rows."""

import asyncio
import inspect
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from fastmcp import Client

import hydramem
from hydramem.cli.main import build
from hydramem.cli.table_commands import command_name
from hydramem.core import docstrings
from hydramem.core.config import Config, EmbeddingConfig, StorageConfig
from hydramem.operations import OPERATIONS
from hydramem.server import http_server as server
from tests import ROOT
from tests.docs.page_blocks import blocks, run

SET_UP = (
    "python3 -m venv .venv && .venv/bin/pip install -q . && "
    ".venv/bin/hydramem models get bge-small && .venv/bin/hydramem demo"
)
TEST = (
    "python3 -m venv .venv && .venv/bin/pip install -q uv -c constraints.txt && "
    ".venv/bin/uv pip install -q -e '.[test]' -c constraints.txt && "
    ".venv/bin/python -m pytest -n auto --dist worksteal"
)
# What a handle can do beside the operations: it is opened, closed, asked where it is and held for a session.
HANDLE = {"close", "config", "folder", "session", "during"}


def read(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


@pytest.mark.costly  # a process that writes every page
def test_generated_pages_are_fresh():
    told = subprocess.run(
        [sys.executable, "docs/generate.py", "--check"], cwd=ROOT, capture_output=True, text=True, timeout=60
    )
    assert told.returncode == 0, told.stdout + told.stderr


def test_the_four_surfaces_agree(tmp_path):
    rows = [operation.name for operation in OPERATIONS]
    assert len(rows) == len(set(rows))

    methods = {name for name in dir(hydramem.Memory) if not name.startswith("_")} - HANDLE
    assert methods == set(rows)

    commands = {name for name in build() if not name.startswith("-")}
    assert commands >= {command_name(operation.name) for operation in OPERATIONS}

    config = Config(storage=StorageConfig(graph="memory"), embedding=EmbeddingConfig(model="hash"))

    async def tools(memory: hydramem.Memory) -> set[str]:
        async with Client(server.build(memory, settings=config.server, tools="all")) as client:
            return {tool.name for tool in await client.list_tools()}

    with hydramem.connect(tmp_path, config=config) as memory:
        assert asyncio.run(tools(memory)) == set(rows)

    sections = re.findall(
        r"^### (\w+)$", read("docs/reference.md").partition("\n## Results\n")[0], flags=re.MULTILINE
    )
    assert sorted(sections) == sorted(rows)


def test_every_argument_is_explained_and_optional_ones_are_named():
    for operation in OPERATIONS:
        explained = docstrings.section(operation.method.__doc__, "Args")
        parameters = inspect.signature(operation.method).parameters
        assert set(explained) == set(parameters) - {"self"}, operation.name
        most = 3 if "object" in parameters else 2  # a relation's subject is all that it says
        for place, parameter in enumerate(operation.signature.parameters.values()):
            assert parameter.kind is parameter.KEYWORD_ONLY or place < most, (
                f"{operation.name}: keyword-only after the subject"
            )


def test_the_two_lines_of_the_readme_are_the_ones_that_are_run():
    assert SET_UP in read("README.md")
    assert TEST in read("README.md")
    assert TEST in read(".ci/run")


def test_links_between_pages_lead_somewhere():
    for page in (*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")):
        for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
            assert (page.parent / target).exists(), f"{page.name}: {target}"


def test_modules_that_pages_name_are_there():
    for page in (ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")):
        for named in re.findall(r"`((?:\w+/)+\w+\.py)`", page.read_text(encoding="utf-8")):
            assert (ROOT / named).exists() or (ROOT / "hydramem" / named).exists(), f"{page.name}: {named}"


def test_the_changelog_knows_the_operations():
    unreleased = read("CHANGELOG.md")
    assert [row.name for row in OPERATIONS if f"`{row.name}`" not in unreleased] == []


def run_blocks(page: str, folder: Path) -> None:
    """Run a page as a reader would: its Python in one session, each shell block in a shell of its own."""
    scope: dict[str, object] = {}
    for block in blocks(ROOT / page):
        if block.language == "python":
            exec(compile(block.text, "tutorial", "exec"), scope)
        else:
            run(block, folder, os.environ)


@pytest.fixture
def reader(tmp_path, monkeypatch):
    """An empty folder, a store of its own, and the carried model whatever was fetched."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HYDRAMEM_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("HYDRAMEM_MODELS", str(tmp_path / "models"))
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "start.md").write_text("# Start\n\nThe deploy guide is kept by Grace Hopper.\n")
    return tmp_path


@pytest.mark.costly  # it uses the real engine and embedder, and processes
def test_what_the_readme_shows_runs(reader):
    run_blocks("README.md", reader)


@pytest.mark.slow
def test_what_the_tutorial_shows_runs(reader):
    run_blocks("docs/tutorial.md", reader)
