"""`hydramem config`: what is in force and why, and edits of config.yml that keep the rest of it."""

import json
import os
from pathlib import Path

import pytest

from hydramem.cli.main import run


@pytest.fixture
def shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    for name in [name for name in os.environ if name.startswith("HYDRAMEM_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("HYDRAMEM_HOME", str(tmp_path / "store"))

    def words(*tokens: str) -> tuple[int, str, str]:
        code = run(("config", *tokens))
        return code, *capsys.readouterr()

    return words


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "store" / "config.yml"


def found(shell, key: str) -> tuple[object, str]:
    code, out, _ = shell("get", key, "--json")
    assert code == 0
    row = json.loads(out)
    return row["value"], row["origin"]


@pytest.mark.costly
def test_a_value_is_set_shown_and_taken_back(shell, file: Path) -> None:
    assert found(shell, "search.min_relevance") == (0.25, "default")
    assert shell("set", "search.min_relevance", "0.4")[0] == 0
    assert file.read_text() == "search:\n  min_relevance: 0.4\n"
    assert found(shell, "search.min_relevance") == (0.4, "file")
    assert shell("set", "server.ingest_roots", "[/data, ~/notes]")[0] == 0
    code, out, _ = shell("list", "--changed", "--json")
    assert code == 0 and [row["key"] for row in json.loads(out)] == [
        "search.min_relevance",
        "server.ingest_roots",
    ]
    assert shell("unset", "server.ingest_roots")[0] == shell("unset", "search.min_relevance")[0] == 0
    assert file.read_text() == "" and shell("unset", "search.min_relevance")[0] == 0


def test_comments_and_the_rest_stay(shell, file: Path) -> None:
    file.parent.mkdir()
    file.write_text("# Mine.\nstorage:\n  graph: ladybug  # until I have tried the other\n")
    file.chmod(0o600)
    assert shell("set", "storage.graph", "kuzu")[0] == 0
    assert file.read_text() == "# Mine.\nstorage:\n  graph: kuzu  # until I have tried the other\n"
    assert file.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize(
    ("key", "value", "told"),
    [
        ("storage.graph", "neo4j", "`ladybug`, `kuzu`"),
        ("storage.index_rows", "many", "whole number"),
        ("storage.grpah", "kuzu", "did you mean storage.graph"),
        ("nothing.at.all", "1", "config list"),
        ("storage", "kuzu", "no such setting"),
    ],
)
def test_what_is_wrong_is_named_and_nothing_is_written(
    shell, file: Path, key: str, value: str, told: str
) -> None:
    code, _, err = shell("set", key, value)
    assert code == 1 and key in err and told in err and not file.exists()


def test_any_words_are_a_text_where_one_is_wanted(shell) -> None:
    for key, words in (("llm.model", "7"), ("server.tools", "[")):
        assert shell("set", key, words)[0] == 0
        assert found(shell, key) == (words, "file")


def test_a_file_that_is_wrong_already_is_left_alone(shell, file: Path) -> None:
    file.parent.mkdir()
    for text in ("storage: [", "- a\n", "storage:\n  nope: 1\n"):
        file.write_text(text)
        code, _, err = shell("set", "storage.graph", "kuzu")
        assert code == 1 and str(file) in err and file.read_text() == text


def test_the_environment_wins_and_says_so(shell, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HYDRAMEM_SEARCH_MIN_RELEVANCE", "0.9")
    code, _, err = shell("set", "search.min_relevance", "0.1")
    assert code == 0 and "HYDRAMEM_SEARCH_MIN_RELEVANCE" in err
    assert found(shell, "search.min_relevance") == (0.9, "environment")


def test_a_section_is_shown_whole(shell) -> None:
    code, out, _ = shell("get", "llm.roles", "--json")
    assert code == 0 and len(json.loads(out)) == 28
    assert shell("get", "nope")[0] == 1
