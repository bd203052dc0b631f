"""What pages show is there: commands parse, options and settings exist, blocks are well formed."""

import json
import os
import re
import shlex
import tomllib
from collections.abc import Callable, Iterator
from functools import cache
from itertools import takewhile
from pathlib import Path

import pytest
import yaml
from cyclopts import App

import hydramem
from hydramem.cli.main import build, with_own_scope
from hydramem.core.settings.config_loading import load_config
from hydramem.core.settings.config_reference import settings
from tests import ROOT
from tests.docs.page_blocks import blocks, is_run, run
from tests.sharing.background_owners import no_owner_left

PAGES = sorted([ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")])
LANGUAGES = {"bash", "console", "python", "json", "jsonl", "yaml", "toml", "text", "markdown", "dockerfile"}
SHELLS = ("bash", "console")
SEPARATORS = re.compile(r"[;&|()<>]+")


def name(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


def command_lines(script: str) -> Iterator[list[str]]:
    """Yield the words of each call of hydramem in a shell script, behind the name of the program."""
    script = re.sub(r"<<-?\s*'?(\w+)'?.*?^\1$", "", script, flags=re.M | re.S)  # what a command reads
    for line in script.replace("\\\n", " ").splitlines():
        lexer = shlex.shlex(line.removeprefix("$ "), posix=True, punctuation_chars=True)
        lexer.whitespace_split = True
        words: list[str] = []
        for word in [*lexer, ";"]:
            if not SEPARATORS.fullmatch(word):
                words.append(word)
                continue
            while words and re.fullmatch(r"\w+=.*", words[0]):
                del words[0]
            if words and Path(words[0]).name == "hydramem":
                yield words[1:]
            elif words[:1] == ["docker"] and words[1] in ("run", "exec"):
                yield list(reversed(list(takewhile(lambda word: word != "hydramem", reversed(words)))))
            words = []


def complaints(check: Callable[[Path], object]) -> list[str]:
    """Return what a check says of each page that does not pass it."""
    found = []
    for page in PAGES:
        try:
            check(page)
        except Exception as error:  # noqa: BLE001  # whatever it is, the page is named
            found.append(f"{name(page)}: {error!r}")
    return found


@cache
def app() -> App:
    return build()


def parse(words: list[str]) -> None:
    """Parse a command line as the program does, without running it."""
    kept = [word for word in with_own_scope(tuple(words)) if word not in ("--help", "-h")]
    _, bound, _ = app().meta.parse_args(kept, exit_on_error=False, print_error=False)
    if kept == words:
        app().parse_args(bound.args, exit_on_error=False, print_error=False)
    elif bound.args:
        command(list(bound.args))


def command(words: list[str]) -> App:
    """Return the command, or the command within one, that words begin with."""
    found = app()
    for word in words:
        if word not in found or word.startswith("-"):
            break
        found = found[word]
    assert found is not app(), f"no command {words[0]}"
    return found


def options(found: App) -> set[str]:
    shared = [argument for argument in app().meta.assemble_argument_collection() if argument.show]
    own = found.assemble_argument_collection() if found.default_command else []
    named = {option for argument in (*shared, *own) for option in argument.names}
    inner = {option for one in found if not one.startswith("-") for option in options(found[one])}
    return named | inner | {"--help", "--version"}


@pytest.mark.slow  # it parses every command line of the pages
def test_commands_that_pages_show_are_understood():
    seen: set[tuple[str, ...]] = set()

    def check(page: Path) -> None:
        for block in blocks(page):
            for words in command_lines(block.text) if block.language in SHELLS else ():
                if words and words != ["--version"] and tuple(words) not in seen:
                    parse(words)
                    seen.add(tuple(words))

    assert complaints(check) == []


def without_blocks(page: Path) -> str:
    return re.sub(r"^ *```.*?^ *```$", "", page.read_text(encoding="utf-8"), flags=re.M | re.S)


@pytest.mark.costly
def test_commands_that_pages_name_exist_with_their_options():
    def check(page: Path) -> None:
        for named in re.findall(r"`hydramem ((?!COMMAND)[^`]+)`", without_blocks(page)):
            words = re.sub(r"^(?:--(?:store|project|config) \S+ |--json )+", "", named).split()
            if words[0].startswith("--"):
                continue
            found = command(words)
            given = set(re.findall(r"(?<![\w-])--[a-z][a-z-]*", named))
            assert not given or given <= options(found), f"hydramem {named}: {given - options(found)}"

    assert complaints(check) == []


def test_settings_that_pages_name_exist():
    known = {".".join(setting.path[:end]) for setting in settings() for end in range(1, 4)}
    sections = {setting.path[0] for setting in settings()}
    wrong = []
    for page in PAGES:
        for named in re.findall(r"`(\w+\.\w+(?:\.\w+)?)(?:: [^`]*)?`", page.read_text(encoding="utf-8")):
            is_file = Path(named).suffix in (".py", ".md", ".yml", ".json", ".toml", ".db", ".log", ".lance")
            is_module = (ROOT / "hydramem" / named.replace(".", "/")).parent.is_dir()
            is_there = named in known or is_file or (is_module and "." in named.partition(".")[2])
            if (
                named.split(".")[0] in sections - {"memory"} and not is_there
            ):  # `memory.` begins a method, too
                wrong.append(f"{name(page)}: {named}")
    assert wrong == []


def test_blocks_name_their_language_and_are_well_formed(tmp_path):
    def check(page: Path) -> None:
        for language, block in ((one.language, one.text) for one in blocks(page)):
            assert language in LANGUAGES, f"```{language}"
            if language == "python":
                compile(block, name(page), "exec")
            elif language == "json":
                json.loads(block)
            elif language == "toml":
                tomllib.loads(block)
            elif language == "yaml" and set(yaml.safe_load(block)) <= {one.path[0] for one in settings()}:
                file = tmp_path / "config.yml"
                file.write_text(block, encoding="utf-8")
                load_config(file, environment={})

    assert complaints(check) == []


def test_lists_within_lists_are_indented_by_four():
    """By less they are items of the outer list for the builder of the site, though not for other viewers."""
    pattern = re.compile(r"^ {1,3}(?:[-*]|\d+\.) .*", re.M)
    assert {name(page): found for page in PAGES if (found := pattern.findall(without_blocks(page)))} == {}


def test_calls_are_found_in_the_lines_of_a_shell_and_of_containers():
    script = "python3 -m venv .venv && .venv/bin/hydramem demo # hydramem no\nA=1 hydramem stats | head\n"
    script += "cat > x <<'END'\nhydramem nothing\nEND\nhydramem recall 'a; b' \\\n  --limit 2 > out\n"
    script += "docker run -v hydramem:/data hydramem stats --json\ndocker exec hydramem hydramem doctor\n"
    run = [["demo"], ["stats"], ["recall", "a; b", "--limit", "2"], ["stats", "--json"], ["doctor"]]
    assert list(command_lines(script)) == run


def test_every_page_has_one_line_in_the_navigation():
    lines = (ROOT / "mkdocs.yml").read_text(encoding="utf-8").partition("\nnav:\n")[2].splitlines()
    named = [line.split()[-1] for line in lines if line.endswith(".md")]
    docs = ROOT / "docs"
    assert sorted(named) == sorted(page.relative_to(docs).as_posix() for page in docs.rglob("*.md"))


def test_the_changelog_has_no_relative_links():
    """It is shown at two places: at the root, and in the site."""
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert re.findall(r"\]\((?!https://)[^)]*\)", changelog) == []


RUN = [ROOT / "docs" / "index.md", *sorted((ROOT / "docs" / "concepts").glob("*.md"))]


@pytest.mark.slow
@pytest.mark.parametrize("shown", list(filter(is_run, RUN)), ids=name)
def test_what_the_first_page_and_the_concepts_show_runs(shown, tmp_path):
    environment = {"HYDRAMEM_HOME": str(tmp_path / "home")}
    environment["HYDRAMEM_MODELS"] = str(tmp_path / "models")  # the model that comes with the package
    with hydramem.connect(tmp_path / "home") as memory:  # a reader has stored something before
        memory.remember("Grace Hopper keeps the release calendar.")
    with no_owner_left(tmp_path / "home"):
        for block in blocks(shown):
            run(block, tmp_path, {**os.environ, **environment})
