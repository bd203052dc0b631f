"""Skills are documentation that agents act on: they may name only what exists."""

import dataclasses
import json
import re
from collections import defaultdict
from pathlib import Path
from typing import get_args

import pytest
import yaml
from pydantic import TypeAdapter

import hydramem
from hydramem.cli.main import build
from hydramem.core.config import Config, EmbeddingConfig, ServerConfig, StorageConfig
from hydramem.core.results.garden_results import Answer
from hydramem.hosts.host_files.skills import skill_files, skills_folder
from hydramem.operations import OPERATIONS
from hydramem.server.manifest import manifest
from hydramem.text.tokens import count_tokens
from tests import ROOT
from tests.own_user import OwnRunner

FOLDER = ROOT / "skills"
SKILLS = sorted(FOLDER.glob("*/SKILL.md"))
KEYS = {"name", "description", "license", "compatibility", "metadata", "allowed-tools"}


def parts(skill: Path) -> tuple[dict[str, object], str]:
    _, front, body = skill.read_text(encoding="utf-8").split("---\n", 2)
    return yaml.safe_load(front), body


MEANT_AS_ARGUMENTS = defaultdict[str, set[str]](
    set, {"hydramem-ingest": {"relations"}, "hydramem-link": {"entity"}}
)
"""Words in a skill that are names of operations, too."""


def known_words() -> set[str]:
    """Every name that may stand in code marks: tools, their arguments, fields of what they take and give."""
    words = {"hydramem", "options", "server.ingest_roots", "ingest-extracted"}
    for operation in OPERATIONS:
        words |= {operation.name, *operation.signature.parameters}
        given = (parameter.annotation for parameter in operation.signature.parameters.values())
        words |= fields(operation.signature.return_annotation).union(*map(fields, given))
    return words


def fields(hint: object) -> set[str]:
    names = set().union(*(fields(part) for part in get_args(hint)))
    if dataclasses.is_dataclass(hint):
        for item in dataclasses.fields(hint):
            names |= {item.name} | fields(item.type)
    return names


MOST_TOKENS = 900
"""Of a skill, in cl100k: an agent reads it whole when it begins to use it."""

MEMORY_ONLY = Config(storage=StorageConfig(graph="memory"), embedding=EmbeddingConfig(model="hash"))
AN_ID = "c_0123456789"
"""The id that skills show."""


def calls(skill: Path) -> list[tuple[str, dict[str, object]]]:
    """Return the calls of tools that a skill shows in fences: a name, and its arguments as JSON."""
    fences = re.findall(r"^```\n(.*?)^```$", skill.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    lines = [line.split(" ", 1) for fence in fences for line in fence.splitlines()]
    return [(name, json.loads(arguments)) for name, arguments in lines]


def test_the_skills_are_there():
    assert {skill.parent.name for skill in SKILLS} >= {"hydramem-query", "hydramem-ingest", "hydramem-reason"}


@pytest.mark.parametrize("skill", SKILLS, ids=lambda skill: skill.parent.name)
def test_the_front_matter_keeps_the_rules(skill):
    front, body = parts(skill)
    assert set(front) <= KEYS
    name, description = front["name"], front["description"]
    assert name == skill.parent.name
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", name)
    assert len(name) <= 64
    assert 1 <= len(description) <= 1024
    assert "Use when" in description
    assert len(front.get("compatibility", "")) <= 500
    assert front["license"] == "MIT"
    assert len(body.splitlines()) < 500


@pytest.mark.parametrize("skill", SKILLS, ids=lambda skill: skill.parent.name)
def test_every_name_in_code_marks_exists(skill):
    _, body = parts(skill)
    named = set(re.findall(r"`([a-z_][a-z_.-]*)`", body))
    assert named, "a skill that names no tool is no workflow"
    assert named - known_words() == set()


@pytest.mark.parametrize("skill", SKILLS, ids=lambda skill: skill.parent.name)
def test_every_command_line_names_a_command(skill):
    _, body = parts(skill)
    commands = set(build())
    for line in re.findall(r"`hydramem ([^`]+)`", body):
        assert line.split()[0] in commands, line


def test_the_answer_that_a_skill_hands_in_is_one():
    _, body = parts(FOLDER / "hydramem-garden" / "SKILL.md")
    (given,) = re.findall(r"`hydramem review '([^']+)'`", body)
    (answer,) = TypeAdapter(tuple[Answer, ...]).validate_json(given)
    assert answer.id.startswith("relation:r_") and answer.yes is False


@pytest.mark.parametrize("skill", SKILLS, ids=lambda skill: skill.parent.name)
def test_a_skill_says_where_the_tools_are_that_agents_do_not_see_by_default(skill):
    _, body = parts(skill)
    hidden = {operation.name for operation in OPERATIONS if operation.audience != "agent"}
    said = [part for part in body.split("\n\n") if "hydramem serve --tools all" in part]
    assert names_in(body) & hidden <= names_in("\n".join(said)) | MEANT_AS_ARGUMENTS[skill.parent.name]


def names_in(text: str) -> set[str]:
    return set(re.findall(r"`([a-z_]+)`", text))


@pytest.mark.parametrize("skill", SKILLS, ids=lambda skill: skill.parent.name)
def test_a_skill_is_short(skill):
    assert count_tokens(skill.read_text(encoding="utf-8")) < MOST_TOKENS


@pytest.mark.parametrize("skill", SKILLS, ids=lambda skill: skill.parent.name)
def test_every_call_that_a_skill_shows_has_the_arguments_that_the_tool_lists(skill):
    schemas = {tool["name"]: tool["inputSchema"] for tool in manifest()["tools"]}
    assert calls(skill), "a skill shows how its tools are called"
    for name, arguments in calls(skill):
        properties = schemas[name]["properties"]
        rare = set(re.findall(r"[a-z_]+", properties["options"]["description"]))
        assert set(arguments) <= set(properties), name
        assert set(arguments.get("options", {})) <= rare | set(properties), name
        assert set(schemas[name].get("required", ())) <= set(arguments), name


@pytest.mark.parametrize("skill", SKILLS, ids=lambda skill: skill.parent.name)
def test_every_call_that_a_skill_shows_is_answered(skill, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "docs").mkdir()
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "meeting.md").write_text("Kestrel is run by the billing team.")
    with hydramem.connect(tmp_path / "store", config=MEMORY_ONLY) as memory:
        known = memory.remember(
            "Ada joined Acme in May, and Ada Lovelace runs billing at Kestrel.", kind="fact"
        )
        for object_ in ("Initech", "billing"):
            memory.relate("Ada Lovelace", "works_for", object_)
        memory.relate("Kestrel", "part_of", "billing")
        tools = OwnRunner(ServerConfig(ingest_roots=(str(tmp_path),)))
        for name, arguments in calls(skill):
            given = json.loads(json.dumps(arguments).replace(AN_ID, known.id))
            assert tools.run(memory, name, given).text, name


def test_the_installed_package_has_the_skills():
    assert skills_folder() == FOLDER
    assert set(skill_files()) == {f"{skill.parent.name}/SKILL.md" for skill in SKILLS}
