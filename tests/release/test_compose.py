"""The compose file runs what the Dockerfile builds, on the database that the documentation names."""

import yaml

from hydramem.core.config import ServerConfig
from hydramem.core.settings.config_loading import load_config
from hydramem.core.settings.environment import STORAGE_VARIABLE
from tests import ROOT

COMPOSE = yaml.safe_load((ROOT / "compose.yml").read_text(encoding="utf-8"))
SERVER, DATABASE = COMPOSE["services"]["server"], COMPOSE["services"]["database"]


def test_the_server_is_the_image_and_reaches_the_database(monkeypatch):
    assert SERVER["build"] == "."
    assert SERVER["ports"] == [f"127.0.0.1:{ServerConfig().port}:{ServerConfig().port}"]
    assert "VOLUME /data" in (ROOT / "Dockerfile").read_text()
    assert [each.split(":")[1] for each in SERVER["volumes"]] == ["/data"]
    settings = SERVER["environment"]
    user, name = DATABASE["environment"]["POSTGRES_USER"], DATABASE["environment"]["POSTGRES_DB"]
    assert settings[STORAGE_VARIABLE].startswith(f"postgresql://{user}:$")
    assert settings[STORAGE_VARIABLE].endswith(f"@database/{name}")
    monkeypatch.setenv("HYDRAMEM_STORAGE_GRAPH", settings["HYDRAMEM_STORAGE_GRAPH"])
    assert load_config(None).storage.graph == "postgres"


def test_no_secret_is_in_the_file_and_none_has_a_default():
    text = (ROOT / "compose.yml").read_text()
    assert text.count("${POSTGRES_PASSWORD:?") == 2
    assert "TOKEN" not in text


def test_calls_may_end_before_the_container_is_killed():
    assert int(SERVER["stop_grace_period"].removesuffix("s")) > ServerConfig().stop_seconds


def test_only_this_machine_reaches_the_server_and_nothing_the_database():
    assert "ports" not in DATABASE
    assert all(each.startswith("127.0.0.1:") for each in SERVER["ports"])
    assert SERVER["read_only"] and SERVER["cap_drop"] == ["ALL"]
