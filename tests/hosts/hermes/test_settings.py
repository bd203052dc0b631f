"""The settings of the provider, and what it says of its files."""

import json
import runpy
import tomllib
from importlib.metadata import EntryPoint
from pathlib import Path
from types import SimpleNamespace

import pytest
import yaml

import hydramem
from hydramem.core.errors import ConfigError
from hydramem.hosts.hermes.provider import HydraMemProvider
from hydramem.hosts.hermes.settings import load_settings


def test_each_profile_has_a_memory_of_its_own_unless_it_is_set(home: Path, tmp_path: Path) -> None:
    other = home / "profiles" / "work"
    assert load_settings(home).folder(home) == home / "hydramem"
    assert load_settings(other).folder(other) == other / "hydramem"
    assert HydraMemProvider().backup_paths() == []
    HydraMemProvider().save_config({"store": str(tmp_path / "team")}, str(home))
    assert load_settings(home).folder(home) == tmp_path / "team"
    assert HydraMemProvider().backup_paths() == [str(tmp_path / "team")]


def test_settings_are_saved_in_part_and_checked(home: Path) -> None:
    provider = HydraMemProvider()
    keys = {each["key"]: each["default"] for each in provider.get_config_schema()}
    provider.save_config({"tools": "read"}, str(home))
    provider.save_config({"project": "team"}, str(home))
    assert json.loads((home / "hydramem.json").read_text()) == {**keys, "tools": "read", "project": "team"}
    for wrong in ({"tools": "some"}, {"project": "../up"}, {"store": 7}, {"stores": "x"}, {"capture": True}):
        with pytest.raises(ConfigError, match="hydramem"):
            provider.save_config(wrong, str(home))
    assert load_settings(home).tools == "read"


@pytest.mark.parametrize("text", ["{", "[]", '{"tools": "some"}'])
def test_a_broken_file_makes_the_provider_unavailable_and_says_why(home: Path, text: str) -> None:
    assert HydraMemProvider().is_available()
    (home / "hydramem.json").write_text(text)
    provider = HydraMemProvider()
    assert not provider.is_available()
    assert "hydramem.json" in provider.unavailable_reason()
    assert provider.get_tool_schemas() == []
    with pytest.raises(ConfigError):
        provider.initialize("s1", hermes_home=str(home))


def test_asking_is_quick_and_makes_nothing(home: Path) -> None:
    provider = HydraMemProvider()
    assert provider.name == "hydramem" and provider.name.isidentifier()
    assert provider.is_available()
    provider.get_tool_schemas()
    provider.get_config_schema()
    assert list(home.iterdir()) == []


def test_the_entry_point_and_the_plugin_register_the_provider() -> None:
    root = Path(hydramem.__file__).parent
    project = tomllib.loads((root.parent / "pyproject.toml").read_text())["project"]
    entry = EntryPoint("hydramem", project["entry-points"]["hermes_agent.memory_providers"]["hydramem"], "")
    plugin = runpy.run_path(str(root / "data" / "hosts" / "hermes" / "__init__.py"))
    for register in (entry.load(), plugin["register"]):
        registered: list[HydraMemProvider] = []
        register(SimpleNamespace(register_memory_provider=registered.append))
        assert [each.name for each in registered] == ["hydramem"]
    described = yaml.safe_load((root / "data" / "hosts" / "hermes" / "plugin.yaml").read_text())
    assert (described["name"], described["version"]) == ("hydramem", hydramem.__version__)
    assert all(callable(getattr(HydraMemProvider, hook)) for hook in described["hooks"])
