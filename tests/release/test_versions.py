"""One version everywhere; pinned packages are those that the tests run against."""

import json
import re
import tomllib
import zipfile
from email.parser import Parser

import pytest
import yaml

import hydramem
from tests import ROOT
from tests.release.conftest import Packages

HOSTS = ROOT / "hydramem" / "data" / "hosts"


def pins(name: str) -> dict[str, str]:
    """The versions that a file pins."""
    lines = (ROOT / name).read_text(encoding="utf-8")
    return dict(re.findall(r"^([A-Za-z0-9._-]+)==([^\s;]+)", lines, re.MULTILINE))


def test_the_changelog_begins_with_what_is_not_released_and_then_this_version() -> None:
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    heads = re.findall(r"^## \[(.+?)\](?: - (.+))?$", changelog, re.MULTILINE)
    assert heads[0] == ("Unreleased", "")
    assert heads[1][0] == hydramem.__version__
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", heads[1][1])


def test_manifests_of_hosts_have_this_version() -> None:
    claude = json.loads((HOSTS / "claude_code_plugin" / ".claude-plugin" / "plugin.json").read_text())
    gemini = json.loads((HOSTS / "gemini_extension" / "gemini-extension.json").read_text())
    hermes = yaml.safe_load((HOSTS / "hermes" / "plugin.yaml").read_text())
    assert {manifest["version"] for manifest in (claude, gemini, hermes)} == {hydramem.__version__}


@pytest.mark.slow
def test_metadata_have_this_version(packages: Packages) -> None:
    with zipfile.ZipFile(packages.wheel) as opened:
        [name] = [name for name in opened.namelist() if name.endswith(".dist-info/METADATA")]
        assert Parser().parsestr(opened.read(name).decode())["Version"] == hydramem.__version__


def test_pins_with_hashes_are_those_of_the_tests() -> None:
    """`requirements.txt` is what the image holds and the bill of materials lists."""
    exact, tested = pins("requirements.txt"), pins("constraints.txt")
    assert {name: exact[name] for name in exact.keys() & tested} == {
        name: tested[name] for name in exact.keys() & tested
    }
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    wanted = {re.split(r"[<>=\[ ]", line)[0].lower() for line in project["dependencies"]}
    assert wanted <= exact.keys()


def test_pins_with_hashes_name_no_address() -> None:
    text = (ROOT / "requirements.txt").read_text(encoding="utf-8")
    assert "://" not in text
    assert "--index" not in text
    for line in re.split(r"\n(?=\S)", text.split("\n\n", 1)[-1].strip()):
        assert "--hash=sha256:" in line, line
