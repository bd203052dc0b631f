import re
from pathlib import Path

import pytest
import yaml

from hydramem.core.config import Config
from hydramem.core.errors import ConfigError
from hydramem.core.settings.config_loading import load_config, load_sharing, override_names
from hydramem.core.settings.config_reference import config_text, settings
from tests import ROOT


def write(folder: Path, text: str) -> Path:
    path = folder / "config.yml"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_file_overrides_defaults_and_the_environment_overrides_the_file(tmp_path):
    path = write(tmp_path, "search: {candidates: 7, damping: 0.5}\nserver: {ingest_roots: [a, b]}")
    config = load_config(path, environment={"HYDRAMEM_SEARCH_DAMPING": "0.6"})
    assert (config.search.candidates, config.search.damping) == (7, 0.6)
    assert config.server.ingest_roots == ("a", "b")
    assert config.storage == Config().storage
    nested = {"HYDRAMEM_LLM_ROLES_VERIFY_MODEL": "small", "HYDRAMEM_SERVER_ALLOWED_HOSTS": "[one, two]"}
    config = load_config(environment=nested)
    assert config.llm.roles.verify.model == "small"
    assert config.server.allowed_hosts == ("one", "two")


def test_without_a_file_it_is_the_defaults_and_variables_that_name_no_key_are_left_alone():
    assert load_config(environment={}) == Config()
    assert load_config(environment={"HYDRAMEM_HOME": "x", "HYDRAMEM_TOKEN": "y"}) == Config()


def test_a_wrong_file_is_named_with_the_path_of_the_key(tmp_path):
    for text, said in (
        ("serach: {}", "serach: no such key"),
        ("search: {candidate: 3}", "search.candidate: no such key"),
        ("search: {candidates: many}", "search.candidates: .*'many'"),
        ("search: {traversal: sideways}", "search.traversal"),
        ("llm: {roles: {verify: {modle: x}}}", "llm.roles.verify.modle: no such key"),
        ("- a list", "expected sections"),
        ("a: [", "cannot be read as YAML"),
    ):
        path = write(tmp_path, text)
        with pytest.raises(ConfigError, match=said) as caught:
            load_config(path, environment={})
        assert str(path) in str(caught.value)


def test_a_wrong_override_is_a_config_error():
    for value in ("lots", "[1", "", "1.5"):
        with pytest.raises(ConfigError, match=r"CANDIDATES|candidates"):
            load_config(environment={"HYDRAMEM_SEARCH_CANDIDATES": value})


def test_a_binary_or_missing_file_is_a_config_error(tmp_path):
    path = tmp_path / "config.yml"
    for content in (b"\xff\xfe\x00", b"a: \x00"):
        path.write_bytes(content)
        with pytest.raises(ConfigError, match="cannot be read"):
            load_config(path, environment={})
    with pytest.raises(ConfigError, match=r"absent\.yml"):
        load_config(tmp_path / "absent.yml")


def test_the_written_text_holds_every_key_and_means_the_defaults(tmp_path):
    path = write(tmp_path, config_text())
    assert load_config(path, environment={}) == Config()
    loaded = yaml.safe_load(config_text())
    for keys in override_names(Config).values():
        section = loaded
        for key in keys:
            section = section[key]


def test_every_key_says_why_in_one_line():
    assert all(setting.why and "\n" not in setting.why for setting in settings())
    assert {setting.variable: setting.path for setting in settings()} == override_names(Config)


def test_the_file_at_the_root_is_the_defaults():
    root = ROOT / "config.yml"
    assert root.read_text(encoding="utf-8") == config_text()


def test_no_key_holds_a_secret():
    secrets = re.compile(r"key|token|password|secret")
    named = [each for each in settings() if secrets.search(each.path[-1])]
    assert all(each.path[-1].endswith(("_env", "_tokens")) or each.kind == "true or false" for each in named)


def test_who_shares_a_store_is_read_without_the_rest(tmp_path: Path) -> None:
    for text, *expected in (
        ("", True, "asked"),
        ("sharing: off\n", False, "asked"),
        ("search:\n  limit: 3\nsharing:\n\n  # who\n  background: always\nllm:\n", True, "always"),
        ("{sharing: {enabled: false, background: always}}\n", False, "always"),
        ('"sharing":\n  background: always\n', True, "always"),
        ("defaults: &own\n  background: always\nsharing: *own\n", True, "always"),
        ("sharing:\n  background: nonsense\n", True, "asked"),  # for `load_config` to report
    ):
        read = load_sharing(write(tmp_path, text))
        assert [read.enabled, read.background] == expected, text


def test_the_environment_wins_over_who_shares_a_store(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = write(tmp_path, "sharing: off\n")
    monkeypatch.setenv("HYDRAMEM_SHARING_ENABLED", "true")
    monkeypatch.setenv("HYDRAMEM_SHARING_BACKGROUND", "always")
    assert (load_sharing(file).enabled, load_sharing(None).background) == (True, "always")
    monkeypatch.setenv("HYDRAMEM_SHARING_ENABLED", "{")
    with pytest.raises(ConfigError, match="HYDRAMEM_SHARING_ENABLED"):
        load_sharing(None)
