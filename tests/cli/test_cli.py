"""The command line: run in this process where its words matter, as a process where its manners do."""

import json
import os
import pty
import re
import signal
import subprocess
import sys
import time

import pytest

from hydramem.cli.handwritten_commands import pages
from hydramem.cli.main import EVERYDAY, build, named_command, run
from hydramem.cli.table_commands import command_name
from hydramem.cli.terminal import plain
from hydramem.core.settings.config_loading import load_config
from hydramem.operations import OPERATIONS
from tests.cli.conftest import Shell, in_own_project, loads, process
from tests.engines import DISK_ENGINE


def test_there_is_a_command_for_every_row_and_some_beside():
    commands = {name for name in build() if not name.startswith("-")}
    assert commands > {command_name(operation.name) for operation in OPERATIONS}


@pytest.mark.costly  # a page for each operation
def test_every_command_explains_itself_and_its_arguments(shell):
    for operation in OPERATIONS:
        told = shell.ok(command_name(operation.name), "--help")
        for name in set(operation.signature.parameters) - {"project"}:
            option = name.strip("_").replace("_", "-")
            assert f"--{option}" in told
            if operation.signature.parameters[name].default is False:
                assert f"--no-{option}" not in told, "it says what is so anyway"
        assert "--store" in told


@in_own_project
def test_remember_recall_get_forget_revive(shell):
    kept = shell.json("remember", "Ada Lovelace moved Billing to MySQL.", "--source", "chat")
    found = shell.ok("recall", "which database does billing use?", "--limit", "3")
    assert "moved Billing to MySQL" in found
    assert "chat" in found
    assert kept["id"] in found
    assert shell.json("get", kept["id"])["text"] == "Ada Lovelace moved Billing to MySQL."
    assert shell.json("forget", kept["id"])["chunks"] == [kept["id"]]
    assert "nothing found" in shell.ok("recall", "which database does billing use?")
    shell.ok("revive", kept["id"])
    assert shell.json("recall", "billing")["hits"][0]["id"] == kept["id"]


@in_own_project
def test_remember_shows_what_is_near_and_how_to_replace_it(shell):
    old = shell.json("remember", "The office is in Room 9.")
    told = shell.ok("remember", "The office is in Room 12.")
    assert "may supersede" in told and old["id"] in told and "--replaces ID" in told
    done = shell.json("remember", "The office is in Room 12.", "--replaces", old["id"])
    assert done["superseded"] == [old["id"]]


def test_options_of_every_command_stand_before_or_after_it(shell, tmp_path):
    elsewhere = str(tmp_path / "elsewhere")
    shell.ok("--store", elsewhere, "--project", "alpha", "remember", "Only alpha knows zanzibar.")
    assert shell.json("memories", "--store", elsewhere, "--project", "alpha")
    assert json.loads(shell.ok("--json", "--store", elsewhere, "memories")) == []
    assert not (tmp_path / "store").exists()


@in_own_project
def test_weights_of_the_arms_are_names_and_numbers(shell):
    shell.json("remember", "Ada Lovelace moved Billing to MySQL.")
    (hit,) = shell.json("recall", "billing MySQL", "--arms", "vector=0, text=1,graph=0")["hits"]
    assert "text" in hit["scores"] and "vector" not in hit["scores"]
    for given, named in (("text", "vector=0.5"), ("text=1,text=2", "twice"), ("words=1", "words")):
        assert named in shell.wrong("recall", "billing", "--arms", given)


@in_own_project
def test_lists_are_tables_of_tabs_in_a_pipe(shell):
    shell.ok("remember", "First line.\nSecond\tline.")
    header, row = shell.ok("memories").splitlines()
    assert header.split("\t") == ["id", "kind", "layer", "happened_at", "source", "text"]
    assert row.split("\t")[-1] == "First line. Second line."
    several = ("--categories", "a", "--categories", "b")
    shell.ok("remember", *several, "--source", "chat", "--", "--limit is an option")
    found = shell.json("memories", "--kinds", "note", "--kinds", "fact")
    assert [row["categories"] for row in found if row["text"] == "--limit is an option"] == [["a", "b"]]


@in_own_project
def test_ingest_extracted_takes_json_or_a_file_of_it(shell, tmp_path):
    chunks = [{"text": "Grace Hopper wrote the Flow Compiler."}]
    relations = [{"subject": "Grace Hopper", "type": "wrote", "object": "Flow Compiler"}]
    (tmp_path / "chunks.json").write_text(json.dumps(chunks))
    done = shell.json("ingest-extracted", "mail:1", "@chunks.json", "--relations", json.dumps(relations))
    assert (done["chunks"], done["relations"]) == (1, 1)
    assert "-[wrote]->" in shell.ok("path", "Grace Hopper", "Flow Compiler")
    shell.ok("remember", "Ada Lovelace likes tea.")
    assert "no path from" in shell.ok("path", "Ada Lovelace", "Grace Hopper")
    for given in ("{", "[{}]", '[{"text": 5}]', "@absent.json", "@."):
        told = shell.wrong("ingest-extracted", "mail:1", given)
        assert told.startswith(("hydramem: chunks", "hydramem: @")) and len(told.splitlines()) == 1


@in_own_project
def test_a_curated_file_reads_as_one(shell):
    shell.ok("curate", "user", '[{"action": "add", "content": "Prefers [red]short[/] answers."}]')
    told = shell.ok("curated").splitlines()
    assert told[0].startswith("memory 0/2,200 characters ")
    assert told[1].startswith("user 30/1,375 characters ")
    assert told[2] == "1 Prefers [red]short[/] answers."
    assert shell.json("curated", "user")[0]["entries"] == ["Prefers [red]short[/] answers."]


@in_own_project
@pytest.mark.costly
def test_a_session_and_what_happened_from_a_shell(shell):
    turns = (
        '[{"author": "user", "text": "Which key?"}, {"author": "assistant", "text": "<think>x</think>Blue."}]'
    )
    assert len(shell.json("capture", "chat", turns)["turns"]) == 2
    shell.ok("remember", "Atlas was released.", "--kind", "event", "--happened-at", "March 2024")
    assert "Atlas was released." in shell.ok("timeline", "2024", "last year")
    assert shell.ok("timeline", "2030") == "nothing\n"
    assert shell.ok("prime") == ""
    shell.ok("remember", "Atlas is in hall 3.", "--kind", "fact")
    assert "Atlas is in hall 3." in shell.ok("prime")


@in_own_project
def test_errors_are_one_line_and_a_code(shell, tmp_path):
    assert "no memory here" in shell.wrong("--store", "typo", "recall", "x")
    assert not (tmp_path / "typo").exists(), "a mistyped store is not made"
    (tmp_path / "my.yml").write_text("search: {candidate: 3}")
    assert "search.candidate: no such key" in shell.wrong("--config", "my.yml", "remember", "x")
    shell.ok("remember", "A note.")
    for words in (["get", "c_none"], ["recall", " "], ["recall", "x", "--limit", "0"], ["ingest", "absent"],
                  ["--project", "../x", "stats"], ["recall", "x", "--as-of", "someday"]):  # fmt: skip
        told = shell.wrong(*words)
        assert told.startswith("hydramem: ")
        assert len(told.splitlines()) == 1, told


def test_misuse_is_code_2(shell):
    for words in (["nope"], ["recall"], ["recall", "x", "--limit", "y"], ["recall", "x", "--nope"],
                  ["recall", "x", "--traversal", "sideways"]):  # fmt: skip
        assert run(words) == 2
    assert "Traceback" not in shell.capsys.readouterr().err


def test_init_writes_every_setting_once(shell, store):
    assert str(store) in shell.ok("init")
    assert load_config(store / "config.yml", environment={}) == load_config(environment={})
    assert "exists" in shell.wrong("init")


@pytest.mark.engine
def test_stats_and_doctor_are_readable(shell):
    shell.ok("remember", "A note.")
    assert f"engine {DISK_ENGINE}" in shell.ok("stats")
    assert "The memory is whole" in shell.ok("doctor")


@pytest.mark.costly  # each command opens the store, and one does all that is left
def test_what_is_left_for_later_is_listed_and_done(shell):
    assert "pending: embed, consolidate, link" in shell.ok("remember", "Ada leads billing.", "--no-wait")
    assert "billing" in shell.ok("recall", "who leads billing?")
    assert shell.json("drain")["left"] == 0
    assert shell.json("jobs") == []
    assert shell.json("stats")["jobs"] == {}
    assert "no number of seconds" in shell.wrong("drain", "--timeout", "-1")


def test_models_lists_the_carried_one(shell):
    assert any(model["carried"] and model["installed"] for model in shell.json("models", "list"))
    assert "hydramem: " in shell.wrong("models", "get", "no such model")


@in_own_project
def test_stored_text_cannot_steer_a_terminal(shell):
    shell.ok("remember", "red \x1b[31malert\x1b[0m [bold]not markup[/bold] \x9b2J")
    for told in (shell.ok("recall", "alert"), shell.ok("memories")):
        assert "\x1b" not in told
        assert "\x9b" not in told
        assert "[bold]not markup[/bold]" in told
    assert plain("a\x07b\rc") == "a\ufffdb\ufffdc"


def test_the_first_page_of_help_begins_with_everyday_commands(shell):
    page = shell.ok("--help")
    assert page.startswith("Usage: hydramem COMMAND [OPTIONS]\n")
    titles = re.findall(r"^╭─ (.+?) ─+╮$", page, flags=re.MULTILINE)
    assert titles == ["Everyday", "Write", "Read", "Check", "Tend", "Set up", "Options of every command"]
    commands = re.findall(r"^│ ([a-z][\w-]*) ", page, flags=re.MULTILINE)
    assert tuple(commands[: len(EVERYDAY)]) == EVERYDAY
    assert sorted(commands) == sorted(name for name in build() if not name.startswith("-"))


@pytest.mark.costly  # a process with the real model
def test_recall_does_not_load_what_it_does_not_need(shell, monkeypatch):
    monkeypatch.setenv("HYDRAMEM_EMBEDDING_MODEL", "minilm")
    shell.ok("remember", "Ada keeps the billing rows in MySQL.")
    shell.ok("drain")  # pending jobs load what they do
    told, loaded = loads("recall", "billing rows")
    assert "Ada keeps the billing rows" in told.stdout
    assert {"lancedb", "onnxruntime", "hydramem.search.recall"} <= loaded
    heavy = (
        "fastembed huggingface_hub requests httpx urllib3 pandas sklearn scipy torch fastmcp selectolax "
        "markdown_it charset_normalizer spacy dateparser hydramem.garden hydramem.ingest.documents "
        "hydramem.ingest.memories hydramem.ingest.knowledge hydramem.search.overview "
        "hydramem.search.deep_recall hydramem.verification.verify"
    )
    assert {*heavy.split(), "ladybug" if DISK_ENGINE == "kuzu" else "kuzu"} & loaded == set()


@pytest.mark.parametrize("words", ["--help", "recall billing", "garden --plan"])
def test_until_it_opens_the_store_a_command_loads_little(words):
    told, loaded = loads(*words.split())
    heavy = {"numpy", "pyarrow", "lancedb", "fastmcp", "onnxruntime", "httpx"}
    if words != "--help":  # a missing store is refused where everything is ready to connect
        assert "no memory here yet" in told.stderr
        assert "hydramem.sharing.connect" in loaded
        heavy |= {"pydantic", "rich", "yaml"}
        heavy |= {"hydramem.operations", "hydramem.memory_api", "hydramem.core.config"}
    assert heavy & loaded == set()


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("recall x", "recall"),
        ("--store recall --json recall x", "recall"),
        ("--store=a --project p remember recall", "remember"),
        ("ingest-extracted @f", "ingest-extracted"),
        ("serve recall", "serve"),
        ("recal recall", None),
        ("--help recall", None),
        ("--store", None),
    ],
)
def test_the_operation_of_a_command_line_is_known_before_the_commands_are_built(line, name):
    assert named_command(line.split()) == name


def test_one_command_is_built_as_among_all(shell):
    for operation in ("recall", "garden"):
        assert shell.ok(operation, "--help") == shell.ok("--help", operation)


def test_python_m_hydramem_and_a_reader_that_leaves():
    first = process("--version")
    assert (first.returncode, first.stderr) == (0, "")
    head = subprocess.run(
        f"{sys.executable} -m hydramem --help | head -1",
        shell=True,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert head.stderr == ""


@pytest.mark.slow
def test_interrupt_is_130_and_keeps_what_is_stored(tmp_path):
    docs = tmp_path / "docs"
    docs.mkdir()
    for number in range(200):
        (docs / f"{number:03}.md").write_text(
            f"# Page {number}\n\n" + f"Ada Lovelace wrote page {number}. " * 200
        )
    child = subprocess.Popen(
        [sys.executable, "-m", "hydramem", "ingest", str(docs)], stderr=subprocess.PIPE, text=True
    )
    stored = tmp_path / "store" / "vectors"
    while not list(stored.rglob("*.lance")) and child.poll() is None:
        time.sleep(0.02)
    child.send_signal(signal.SIGINT)
    _, err = child.communicate(timeout=60)
    assert child.returncode == 130, err
    assert len(err.strip().splitlines()) == 1
    assert process("doctor").stdout.startswith("The memory is whole")


def test_an_interrupt_inside_executed_source_leaves_the_exit_code(tmp_path):
    (tmp_path / "interrupted.py").write_text(
        "from hydramem.cli import main\n"
        "main._run = lambda *given, **options: exec('raise KeyboardInterrupt')\n"
        "main.main()\n"
    )
    ended = subprocess.run(
        [sys.executable, "-m", "interrupted"],
        cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(tmp_path)}, capture_output=True, timeout=60,
    )  # fmt: skip
    assert ended.returncode == 130


def on_a_terminal(*words: str) -> str:
    """Run a command whose outputs are a terminal; return what it would show."""
    main, side = pty.openpty()
    child = subprocess.Popen(
        [sys.executable, "-m", "hydramem", *words],
        stdout=side, stderr=side, env={**os.environ, "TERM": "xterm-256color"},
    )  # fmt: skip
    os.close(side)
    told = b""
    while True:
        try:
            told += os.read(main, 4096)
        except OSError:  # the child has closed its side
            break
    child.wait(timeout=60)
    os.close(main)
    return told.decode()


@pytest.mark.slow
def test_on_a_terminal_there_is_colour_and_progress(tmp_path):
    (tmp_path / "tea.md").write_text("# Tea\n\nAda Lovelace likes tea.\n")
    told = on_a_terminal("ingest", "tea.md")
    assert "1/1" in told
    told = on_a_terminal("recall", "tea")
    assert "\x1b[" in told
    assert "likes tea" in told


@pytest.mark.slow
def test_the_demo_answers_and_leaves_a_store(shell, tmp_path):
    told = shell.ok("demo")
    assert (tmp_path / "hydramem-demo" / "graph").exists()
    assert "Priya Raman" in told
    assert f"--store {tmp_path / 'hydramem-demo'} view" in told
    done, *answers, way = shell.json("demo")
    assert (done["documents"], done["skipped"]) == (0, [])
    assert 10 < done["unchanged"] < len(pages()), "generated pages are left out"
    assert [len(answer["hits"]) > 0 for answer in answers] == [True] * 3
    assert way["found"]


@in_own_project
def test_relate_history_conflicts_unrelate(shell):
    first = shell.json("relate", "Ada", "works_for", "Acme", "--valid-from", "2019", "--reason", "her card")
    second = shell.json("relate", "Ada", "works_for", "Beta", "--valid-from", "2024-05")
    assert [row["object"] for row in second["superseded"]] == ["Acme"]
    header, row = shell.ok("relations", "Ada", "--as-of", "2020").splitlines()
    assert header.split("\t")[:3] == ["subject", "type", "object"]
    assert row.split("\t")[:3] == ["Ada", "works_for", "Acme"]
    told = shell.ok("history", first["relation"]["id"])
    assert "her card" in told
    assert "superseded by" in told
    for minutes in (5, 8):
        # What holds for a time only ends nothing: both stay.
        shell.ok("remember", f"The Atlas export takes {minutes} minutes.", "--valid-to", "2999")
    assert "takes 5 minutes" in shell.ok("conflicts")
    assert "before it begins" in shell.wrong("unrelate", "Ada", "works_for", "Beta", "--ended", "2020")
    assert shell.json("unrelate", "Ada", "works_for", "Beta")[0]["state"] == "archived"
    assert shell.ok("relations", "Ada").strip() == "nothing"
    assert "no such relation" in shell.wrong("unrelate", "Ada", "knows", "Beta")


@pytest.mark.costly  # two stores
def test_a_dump_covers_all_projects_or_the_one_that_is_named(shell, tmp_path):
    shell.ok("remember", "The parrot is called Ivan.", "--project", "birds")
    shell.ok("remember", "The wombat is called Ada.")
    assert shell.json("dump", "all")["projects"] == ["birds", "default"]
    assert shell.json("dump", "some", "--project", "birds")["projects"] == ["birds"]
    assert "holds something" in shell.wrong("dump", "all")
    assert "no project of this name" in shell.wrong("dump", "none", "--project", "nowhere")

    told = shell.json("--store", str(tmp_path / "other"), "load", "some")
    assert told["written"]["chunks"] == 1
    (tmp_path / "some" / "chunks.jsonl").write_text("{}\n")
    assert "chunks.jsonl" in shell.wrong("--store", str(tmp_path / "other"), "load", "some")


@pytest.mark.slow
def test_a_night_with_a_phase_that_failed_fails(
    shell: Shell, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for day in range(3):
        shell.ok(
            "remember", f"On day {day} Ada met Bob in Paris about billing plan {day}.", "--session", f"s{day}"
        )
    night = ("garden", "--phases", "infer", "--phases", "prune")
    shell.ok(*night)
    monkeypatch.setenv("HYDRAMEM_LLM_PROVIDER", "ollama")
    monkeypatch.setenv("HYDRAMEM_LLM_BASE_URL", "http://127.0.0.1:9")
    assert run((*night, "--verbose")) == 1
    out, err = capsys.readouterr()
    assert "infer     failed" in out and "prune     nothing to change" in out
    assert "failed: infer (project default)" in err
    assert "failed" in shell.ok("garden", "--status")


@pytest.mark.costly  # files of a store are written anew
def test_erase_asks_and_a_script_says_yes(shell, monkeypatch):
    kept = shell.json("remember", "Bob runs billing.")["id"]
    gone = shell.json("remember", "Ada keeps the vermilion ledger.")["id"]
    assert "--yes" in shell.ok("erase", "--help")
    assert "give --yes" in shell.wrong("erase", gone)
    assert shell.json("erase", gone, "--dry-run")["removed"]["chunks"] == 1
    monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
    monkeypatch.setattr("builtins.input", lambda question: "no")
    assert run(("erase", gone)) == 1
    assert "not confirmed" in shell.capsys.readouterr().err
    done = shell.json("erase", gone, "--yes")
    assert done["asked"] == [gone] and done["actor"] == "cli"
    assert [row["id"] for row in shell.json("memories")] == [kept]


@in_own_project
def test_a_hit_names_what_says_the_same_in_other_words(shell: Shell) -> None:
    told = (
        "The greenhouse of Anneke gets its water at six in the morning, except on Sundays.",
        "Anneke's greenhouse is watered at 6 a.m. on every day of the week but Sunday.",
    )
    ids = {shell.json("remember", text)["id"] for text in told}
    [hit] = shell.json("recall", "when is the greenhouse of Anneke watered")["hits"]
    assert {hit["id"], *hit["also"]} == ids
    assert f"also said by {hit['also'][0]}" in shell.ok("recall", "when is the greenhouse of Anneke watered")
