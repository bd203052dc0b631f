"""Commands beside a process that has the store open: they print the same, and load next to nothing."""

import json
import shlex

import pytest

import hydramem
from hydramem.cli.main import run
from tests.cli.conftest import loads
from tests.owner_process import owner

_READS = (
    "recall 'which database does billing use?' --limit 3",
    "recall billing --explain --json",
    "prime billing",
    "memories",
    "memories --json",
    "entities",
    "relations Kestrel --json",
    "path 'Ada Lovelace' Billing",
    "curated",
    "garden --status",
)
_WRONG = ("get c_nothing", "recall ''", "timeline someday")
_DIFFERS_BY_RUN = {"milliseconds", "recall_count", "last_recalled_at"}


def without_times(value: object) -> object:
    if isinstance(value, dict):
        return {key: without_times(each) for key, each in value.items() if key not in _DIFFERS_BY_RUN}
    return [without_times(each) for each in value] if isinstance(value, list) else value


def answer(line: str, capsys: pytest.CaptureFixture[str]) -> tuple[int, object, str]:
    """Return the exit code of a command and what it printed."""
    code = run(shlex.split(line))
    out, err = capsys.readouterr()
    return code, without_times(json.loads(out)) if "--json" in line else out, err


@pytest.mark.slow
def test_commands_print_the_same_beside_an_owner(shell, store):
    with owner(store):
        kept = shell.json("remember", "Ada Lovelace moved Billing to MySQL.", "--source", "chat")
        shell.ok("relate", "Ada Lovelace", "leads", "Kestrel")
        shell.ok("relate", "Kestrel", "uses", "Billing")
        shell.ok("drain")
        lines = (*_READS, *_WRONG, f"get {kept['id']} --json", f"history {kept['id']} --json")
        beside = {line: answer(line, shell.capsys) for line in lines}
    with hydramem.connect(store):
        for line in lines:
            assert answer(line, shell.capsys) == beside[line], line
    assert [beside[line][0] for line in _WRONG] == [1] * len(_WRONG)
    assert [beside[line][0] for line in _READS] == [0] * len(_READS)
    assert "moved Billing to MySQL" in str(beside[_READS[0]])


@pytest.mark.parametrize("words", ["recall billing", "remember 'Ada likes tea.'"])
@pytest.mark.slow
def test_a_command_beside_an_owner_is_light(words, shell, store):
    shell.ok("remember", "Ada Lovelace moved Billing to MySQL.")
    with owner(store):
        told, loaded = loads(*shlex.split(words))
    assert told.returncode == 0 and told.stdout, told.stderr
    heavy = {"numpy", "pyarrow", "pydantic", "lancedb", "fastmcp", "yaml", "onnxruntime"}
    parts = {"hydramem.operations", "hydramem.memory_api", "hydramem.core.config"}
    assert (heavy | parts) & loaded == set()


@pytest.mark.slow
def test_content_beside_an_owner_comes_from_the_folder_of_the_command(shell, store, tmp_path):
    (tmp_path / "page.md").write_text("# Billing\n\nBilling runs on MySQL since the move in May.\n")
    turns = tmp_path / "turns.json"
    turns.write_text(json.dumps([{"author": "user", "text": "Where does Kestrel run?"}]))
    with owner(store):
        assert shell.json("ingest", "page.md")["documents"] == 1
        assert len(shell.json("capture", "standup", f"@{turns}")["turns"]) == 1
        shell.ok("dump", "out")
    assert (tmp_path / "out" / "manifest.json").exists()
