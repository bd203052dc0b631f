"""The how-to pages: what they show equals what the program writes, and runs in an empty home.

Blocks in `bash` and `python` are run in their order; `console` shows what needs a person, a network or
another program, and is only parsed, in test_commands.py, as settings are; `json` and `toml` are
what `init --host` writes for the host that the section names; `text` is an answer.
"""

import json
import re
import tomllib
from pathlib import Path

import pytest

from hydramem.core.settings.config_reference import settings
from hydramem.hosts.host_files.host_table import HOSTS
from hydramem.hosts.host_files.launch_command import Launch, server_entry
from tests import ROOT
from tests.docs.page_blocks import Block, blocks, is_run, run
from tests.sharing.background_owners import no_owner_left

PAGES = sorted((ROOT / "docs" / "how-to").glob("*.md"))
CHECKED = {"bash", "console", "json", "python", "text", "toml", "yaml"}
MOST_LINES = 100
BY_PATH = "/opt/hydramem/bin/hydramem"
"""The program as pages show it for a host that does not know the search path of a shell."""
VARIABLES = {
    *(f"HYDRAMEM_{name}" for name in ("HOME", "MODELS", "PROJECT", "STORAGE_URL", "TOKEN")),
    *(setting.variable for setting in settings()),
}

VERIFIED = "| relverify | all | 1726 | 0.949 | 0.500 | 0.866 | 0.920 | 0.933 | 0.23 | 0.87 |"
RERANKED = "| locomo-turn | 1018 | 47.5 -> 48.3 | 61.8 -> 63.4 | 78.8 -> 79.7 |"
# What pages say of measurements, and the row of the committed results that says it.
FIGURES = [
    ("choose-a-model", "72.9 %", "| 2wiki | all-MiniLM-L6-v2-int8/384 | 486 | 41.7 | 72.9 |"),
    ("choose-a-model", "0 of 504", "| updates, contradictions, refinements merged away | 0 of 504 |"),
    ("choose-a-model", "0 of 459", "| both true, one ended or merged away | 0 of 459 |"),
    ("choose-a-model", "229 of 277", "| updates ended or linked `may_supersede` | 229 of 277 |"),
    ("choose-a-model", "87 % of", VERIFIED),
    ("choose-a-model", "from 78.8", RERANKED),
    ("change-the-embedder", "76.1 %", "| 2wiki | bge-small-en-v1.5-int8/384 | 486 | 43.3 | 76.1 |"),
]

HOST_OF_SECTION = {host.title: host.name for host in HOSTS.values()}


def read(page: Path) -> str:
    return page.read_text(encoding="utf-8")


def shown(language: str) -> list[tuple[str, Block]]:
    """Return every block of a language with the page that it stands on."""
    found = ((page.stem, block) for page in PAGES for block in blocks(page))
    return [(page, block) for page, block in found if block.language == language]


def test_every_page_is_listed_once():
    index = ROOT / "docs" / "how-to" / "index.md"
    listed = re.findall(r"\]\((\w[\w-]*\.md)\)", read(index))
    assert sorted(listed) == sorted(page.name for page in PAGES if page != index)


def test_pages_are_short_and_every_block_is_of_a_kind_that_is_checked():
    for how_to in PAGES:
        page = read(how_to)
        assert len(page.splitlines()) <= MOST_LINES, how_to.name
        assert {block.language for block in blocks(how_to)} <= CHECKED, how_to.name
        assert not re.search(r"^[ \t]+```", page, flags=re.MULTILINE), "an indented block is not checked"


def test_variables_and_extras_exist():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    for how_to in PAGES:
        text = read(how_to)
        assert set(re.findall(r"\bHYDRAMEM_[A-Z_]+\b", text)) <= VARIABLES, how_to.name
        asked = {extra for names in re.findall(r"hydramem\[([\w,-]+)\]", text) for extra in names.split(",")}
        assert asked <= set(project["optional-dependencies"]), how_to.name


def test_files_of_hosts_are_what_the_program_writes():
    launch = Launch(by_name=("hydramem",), by_path=(BY_PATH,))
    found = [*shown("json"), *shown("toml")]
    assert found
    for page, block in found:
        host = HOSTS[HOST_OF_SECTION[block.heading]]
        read_text = json.loads if block.language == "json" else tomllib.loads
        written = {host.server_key: {"hydramem": server_entry(host, launch)}}
        assert read_text(block.text) == written, f"{page}: {block.heading}"


def test_figures_are_the_committed_ones():
    results = read(ROOT / "docs" / "results.md")
    for page, said, row in FIGURES:
        assert said in read(ROOT / "docs" / "how-to" / f"{page}.md"), said
        assert row in results, row


@pytest.mark.slow
@pytest.mark.timeout(900)  # tens of short commands, each a process, on a machine that may be busy
@pytest.mark.parametrize("how_to", list(filter(is_run, PAGES)), ids=lambda how_to: how_to.stem)
def test_what_a_page_shows_runs(how_to, tmp_path):
    """Run a page as its reader would: a process a block, in an empty home."""
    home, work = tmp_path / "home", tmp_path / "home" / "work"
    work.mkdir(parents=True)
    environment = {
        "HOME": str(home),
        "HYDRAMEM_MODELS": str(tmp_path / "models"),
        "HYDRAMEM_SHARING_BACKGROUND": "always",  # so that not every command loads databases and a model
        "PYTHONPATH": str(ROOT),
    }
    with no_owner_left(home / ".hydramem"):
        for block in blocks(how_to):
            run(block, work, environment)
