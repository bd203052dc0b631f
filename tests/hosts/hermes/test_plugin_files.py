"""The provider in the files of Hermes: written with a backup, once, and taken out to the byte."""

import os
import sys
from pathlib import Path

import pytest
import yaml

from hydramem.core.errors import InvalidInputError, StorageError
from hydramem.hosts.hermes.plugin_files import planned_changes, plugin_files
from hydramem.hosts.host_files.file_changes import apply_changes
from hydramem.hosts.host_files.host_changes import HostTarget
from hydramem.hosts.host_files.install import HostFiles, install
from hydramem.hosts.host_files.launch_command import Launch
from hydramem.hosts.host_files.machine import Machine
from tests.hosts.host_files.machines import LAUNCH, tree

CONFIGS = {
    "nothing": None,
    "empty": "",
    "other provider": "# mine\nmodel: x\nmemory:\n  on: true  # keep\n  provider: honcho # was\n\na: {}\n",
    "no provider": "memory:\n    memory_char_limit: 2200\n",
    "no section": "model:\n  default: a/b\n",
    "empty provider": "memory:\n  provider: ''\n",
    "null section": "memory:\nmodel: x\n",
    "flow": "memory: {memory_enabled: true}\n",
    "no end of line": "model: x",
    "windows": "memory:\r\n  provider: mem0\r\nmodel: x\r\n",
}


def written(home: Path, launch: Launch = LAUNCH, *, remove: bool = False, dry_run: bool = False) -> HostFiles:
    machine = Machine(platform=sys.platform, home=home.parent, project=home.parent / "project")
    target = HostTarget(machine=machine, scope="user", dry_run=dry_run)
    return install("hermes", target, launch, remove=remove)


@pytest.fixture
def hermes(tmp_path: Path) -> Path:
    home = tmp_path / ".hermes"
    home.mkdir()
    return home


@pytest.mark.parametrize("name", CONFIGS)
def test_it_is_set_once_and_taken_out_to_the_byte(hermes: Path, name: str) -> None:
    config, text = hermes / "config.yaml", CONFIGS[name]
    if text is not None:
        config.write_bytes(text.encode())
        config.chmod(0o600)
    before = tree(hermes)
    assert written(hermes, dry_run=True).diff
    assert tree(hermes) == before

    written(hermes)
    values = yaml.safe_load(config.read_text())
    assert values["memory"]["provider"] == "hydramem"
    was = yaml.safe_load(text or "") or {}
    assert {**values, "memory": 0} == {**was, "memory": 0}
    assert {path.name for path in (hermes / "plugins" / "hydramem").iterdir()} == set(plugin_files())
    if text is not None:
        assert (hermes / "config.yaml.hydramem-backup").read_bytes() == text.encode()
        assert config.stat().st_mode & 0o777 == 0o600

    after = tree(hermes)
    assert {each.outcome for each in written(hermes).files} == {"unchanged"}
    assert tree(hermes) == after

    (hermes / "plugins" / "hydramem" / "__pycache__").mkdir()
    (hermes / "plugins" / "hydramem" / "__pycache__" / "__init__.cpython-311.pyc").write_bytes(b"x")
    written(hermes, remove=True)
    assert tree(hermes) == before
    written(hermes, remove=True)
    assert tree(hermes) == before


def test_an_interrupted_run_is_completed_by_the_next(hermes: Path) -> None:
    (hermes / "config.yaml").write_text(str(CONFIGS["other provider"]))
    before = tree(hermes)
    machine = Machine(platform=sys.platform, home=hermes.parent, project=hermes.parent)
    for remove in (False, True):
        for done in range(len(planned_changes(machine, remove=remove))):
            apply_changes(planned_changes(machine, remove=remove)[:done], within=(hermes.parent,))
            written(hermes, remove=remove)
            present = yaml.safe_load((hermes / "config.yaml").read_text())["memory"]["provider"]
            assert present == ("honcho" if remove else "hydramem")
            written(hermes, remove=True)
            assert tree(hermes) == before
            if remove:
                written(hermes)


def test_what_a_person_changed_meanwhile_stays(hermes: Path) -> None:
    config = hermes / "config.yaml"
    config.write_text("memory:\n  provider: honcho\nmodel: x\n")
    written(hermes)
    config.write_text(config.read_text().replace("model: x", "model: y  # new"))
    written(hermes, remove=True)
    assert config.read_text() == "memory:\n  provider: honcho\nmodel: y  # new\n"
    assert not (hermes / "config.yaml.hydramem-backup").exists()


def test_another_provider_that_was_set_meanwhile_stays(hermes: Path) -> None:
    config = hermes / "config.yaml"
    config.write_text("memory:\n  provider: honcho\n")
    written(hermes)
    config.write_text("memory:\n  provider: mem0\n")
    written(hermes, remove=True)
    assert config.read_text() == "memory:\n  provider: mem0\n"
    assert not (hermes / "plugins" / "hydramem").exists()


def test_what_else_is_in_the_folder_of_the_plugin_stays(hermes: Path) -> None:
    written(hermes)
    mine = hermes / "plugins" / "hydramem" / "notes.txt"
    mine.write_text("mine")
    written(hermes, remove=True)
    assert mine.read_text() == "mine"


@pytest.mark.parametrize("text", ["memory: [1, 2\n", "- a\n- b\n", "\tmemory: x\n"])
def test_a_file_that_cannot_be_read_is_named_and_left_alone(hermes: Path, text: str) -> None:
    config = hermes / "config.yaml"
    config.write_text(text)
    before = tree(hermes)
    for remove in (False, True):
        if text.startswith("-") and remove:
            continue
        with pytest.raises(InvalidInputError, match=r"config\.yaml"):
            written(hermes, remove=remove)
    assert tree(hermes) == before


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everything")
def test_a_home_folder_that_cannot_be_written_is_told(hermes: Path) -> None:
    hermes.chmod(0o500)
    with pytest.raises(StorageError, match="hermes"):
        written(hermes)
    hermes.chmod(0o700)
