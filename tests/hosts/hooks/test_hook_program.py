"""The program: whatever happens, it ends in time with exit code 0, and says nothing that is no answer."""

import json
import os
import resource
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

import hydramem
from hydramem.hosts.hooks.answer_event import HookPlace
from hydramem.hosts.hooks.deadline import Deadline
from hydramem.hosts.hooks.hook_program import HookWords, answer, hook_words
from hydramem.storage.files.folder_lock import FolderLock
from hydramem.storage.files.owner_note import own_note, write_note
from tests.hosts.hooks.conftest import context, troubles, turns
from tests.hosts.hooks.events import SESSION, add_lines, claude_answer, claude_line, event
from tests.sharing.background_owners import no_owner_left, owner_processes, wait_for

PROMPT = event("claude-code", "UserPromptSubmit", prompt="Which database does billing use?")
SECONDS = 1.5
BUSY = 2.0
"""A machine that does much else takes so much longer to start and end a process."""


def start(*words: str, **options: object) -> "subprocess.Popen[bytes]":
    return subprocess.Popen(
        [sys.executable, "-m", "hydramem", *words],
        **{"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options},  # type: ignore[call-overload]
    )


def run(place: HookPlace, raw: bytes, host: str = "claude-code", **options: object) -> str:
    """Run the program on an event; return what it wrote."""
    process = start("--store", str(place.store), "hook", host, **options)
    out, err = process.communicate(raw, timeout=60)
    assert (process.returncode, err) == (0, b"")
    return out.decode()


def given(place: HookPlace, raw: bytes, host: str = "claude-code", **options: object) -> str:
    """Run the program until it writes something; on a busy machine the time can be over before."""
    found = (run(place, raw, host, **options) for _ in range(10))
    return next(filter(None, found))


@pytest.fixture
def store(place: HookPlace) -> Iterator[HookPlace]:
    """A store that nobody holds; owners that hooks start are ended."""
    with no_owner_left(place.store):
        yield place


STRANGE = {
    "nothing": b"",
    "no JSON": b'{"hook_event_name": "Stop", ',
    "binary": bytes(range(256)) * 100,
    "a list": b'["UserPromptSubmit"]',
    "a number": b"1e999",
    "deep": b"[" * 200_000,
    "no session": event("claude-code", "UserPromptSubmit", prompt="Which one?", session_id=None),
    "other types": event("claude-code", "Stop", session_id=7, cwd=[], transcript_path={}, prompt=1),
    "unknown event": event("claude-code", "Notification", message="hello there"),
    "another host's": event("gemini", "BeforeAgent", prompt="Which database is it?"),
    "missing transcript": event("claude-code", "Stop", transcript_path="/nowhere/x.jsonl"),
    "a folder as transcript": event("claude-code", "Stop", transcript_path="/tmp"),
    "NUL in a path": event("claude-code", "Stop", transcript_path="/tmp/\0x", cwd="/tmp/\0"),
    "odd session": event("claude-code", "Stop", session_id="../../\n" * 500),
    "lone surrogates": event("claude-code", "UserPromptSubmit", session_id="\ud800", prompt="a \udfff b"),
}


@pytest.mark.parametrize("what", STRANGE)
@pytest.mark.parametrize("host", ["claude-code", "codex", "gemini", "opencode", "emacs", ""])
def test_strange_input_is_answered_with_nothing(
    memory: hydramem.Memory, place: HookPlace, what: str, host: str
) -> None:
    written: list[str] = []
    words = HookWords(host=host, options={"--store": str(place.store)})
    answer(STRANGE[what], words, Deadline(30.0), written.append)
    assert written == []


def test_strange_input_does_not_fail_the_process(memory: hydramem.Memory, place: HookPlace) -> None:
    for what in ("nothing", "binary", "deep", "missing transcript"):
        assert run(place, STRANGE[what]) == ""
    assert len(troubles(place).splitlines()) == 4


def test_unknown_fields_and_a_huge_prompt_are_accepted(memory: hydramem.Memory, place: HookPlace) -> None:
    memory.remember("Billing uses the database MySQL 8.", project="shop")
    pasted = "Which database does billing use? " + "log line\n" * 300_000
    asked = event("codex", "UserPromptSubmit", prompt=pasted, surprise={"deep": [1]})
    assert "MySQL" in context(given(place, asked, "codex"))


def test_words_of_the_command_line_are_read_leniently() -> None:
    words = ["--store", "/a", "--project=work", "--json", "hook", "--config", "/c.yml", "gemini", "more"]
    given = hook_words(words)
    assert given.host == "gemini" and given.store == Path("/a")
    assert given.options == {"--store": "/a", "--project": "work", "--config": "/c.yml"}
    assert hook_words(["hook"]).host == "" == hook_words(["hook", "--store"]).host


def test_a_silent_owner_costs_the_deadline_and_nothing_else(place: HookPlace, tmp_path: Path) -> None:
    place.store.mkdir()
    lock = FolderLock(place.store)
    lock.acquire()
    silent = socket.socket(socket.AF_UNIX)
    silent.bind(str(tmp_path / "s"))
    silent.listen()
    write_note(place.store, replace(own_note(), address=f"unix:{tmp_path / 's'}", key="00"))
    since = time.monotonic()
    assert run(place, PROMPT) == ""
    assert SECONDS - 0.3 < time.monotonic() - since < SECONDS + BUSY
    assert "TimeoutError" in troubles(place)
    lock.release()
    silent.close()


def test_an_owner_that_shares_nothing_is_noted(place: HookPlace) -> None:
    place.store.mkdir()
    lock = FolderLock(place.store)
    lock.acquire()
    assert run(place, PROMPT) == ""
    assert troubles(place), "that nothing is shared or, on a busy machine, that its time was over"
    lock.release()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_signal_ends_it_with_exit_code_0(place: HookPlace, number: int) -> None:
    process = start("--store", str(place.store), "hook", "claude-code")
    # The interpreter itself handles SIGINT, until the program does.
    wait_for(lambda: handles(process.pid, signal.SIGTERM), "the program handles signals")
    process.send_signal(number)
    assert process.communicate(timeout=60) == (b"", b"") and process.returncode == 0


def handles(pid: int, number: int) -> bool:
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    (caught,) = [line.split()[1] for line in lines if line.startswith("SigCgt")]
    return bool(int(caught, 16) >> (number - 1) & 1)


def test_input_that_does_not_end_is_given_up(place: HookPlace) -> None:
    process = start("--store", str(place.store), "hook", "claude-code")
    assert process.wait(timeout=60) == 0
    assert process.communicate() == (b"", b"")


def test_a_full_disk_and_closed_streams_fail_nothing(memory: hydramem.Memory, place: HookPlace) -> None:
    memory.remember("Billing uses the database MySQL 8.", project="shop")

    def no_room() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))

    assert run(place, PROMPT, preexec_fn=no_room) == "", "what is shown could not be noted"
    for closed in (0, 1, 2):
        process = start(
            "--store", str(place.store), "hook", "claude-code", preexec_fn=partial(os.close, closed)
        )
        process.communicate(PROMPT, timeout=60)
        assert process.returncode == 0
    reader, writer = os.pipe()
    os.close(reader)
    process = start("--store", str(place.store), "hook", "claude-code", stdout=writer)
    process.communicate(PROMPT, timeout=60)
    assert process.returncode == 0
    os.close(writer)


@pytest.mark.parametrize("trouble", ["sharing: off", "hooks: [", "hooks:\n  prompt: maybe"])
def test_settings_that_are_wrong_or_forbid_it_are_noted(place: HookPlace, trouble: str) -> None:
    place.store.mkdir()
    (place.store / "config.yml").write_text(trouble)
    assert run(place, PROMPT) == ""
    assert len(troubles(place).splitlines()) == 1


def test_a_store_that_is_a_file_fails_nothing(place: HookPlace) -> None:
    place.store.write_text("no folder")
    assert run(place, PROMPT) == ""


def test_help_is_shown_all_the_same() -> None:
    process = start("hook", "--help")
    assert b"claude-code, codex, gemini or opencode" in process.communicate(timeout=60)[0]


@pytest.mark.slow
def test_the_first_event_starts_an_owner_that_answers_the_next_ones(store: HookPlace, tmp_path: Path) -> None:
    path = tmp_path / f"{SESSION}.jsonl"
    add_lines(path, [claude_line("user", "Where is the crane?"), claude_answer("At the east pier.")])
    begins = event("claude-code", "SessionStart", source="startup", transcript_path=str(path))
    since = time.monotonic()
    run(store, begins)
    assert time.monotonic() - since < SECONDS + BUSY
    wait_for(lambda: len(owner_processes(store.store)) == 1, "an owner runs")
    # The host kills itself and its children right after the stop has returned.
    stopped = event("claude-code", "Stop", transcript_path=str(path))
    for _ in range(20):
        host = subprocess.Popen(
            [sys.executable, "-c", _HOST, str(store.store)], stdin=subprocess.PIPE, start_new_session=True
        )
        host.communicate(stopped, timeout=60)
        assert host.returncode == -signal.SIGKILL
    with hydramem.connect(store.store, background=True) as memory:
        said = [("user", "Where is the crane?"), ("assistant", "At the east pier.")]
        assert turns(memory, f"claude-code:{SESSION}") == said
    assert len(owner_processes(store.store)) == 1


_HOST = """
import os, signal, subprocess, sys
hook = [sys.executable, "-m", "hydramem", "--store", sys.argv[1], "hook", "claude-code"]
subprocess.run(hook, input=sys.stdin.buffer.read(), check=True)
os.killpg(0, signal.SIGKILL)
"""


def test_the_answer_is_one_json_object(memory: hydramem.Memory, place: HookPlace) -> None:
    memory.remember("Billing uses the database MySQL 8 — naïvely.", project="shop")
    written = given(place, PROMPT, env={**os.environ, "PYTHONIOENCODING": "ascii", "LC_ALL": "C"})
    assert "naïvely" in json.loads(written)["hookSpecificOutput"]["additionalContext"]


@pytest.mark.slow
def test_hooks_that_are_killed_at_any_moment_lose_and_double_nothing(
    memory: hydramem.Memory, place: HookPlace, tmp_path: Path
) -> None:
    path, expected = tmp_path / f"{SESSION}.jsonl", []
    for number in range(20):
        add_lines(path, [claude_line("user", f"Question {number}?"), claude_answer(f"Answer {number}.")])
        expected += [("user", f"Question {number}?"), ("assistant", f"Answer {number}.")]
        stopped = event(
            "claude-code", "Stop", transcript_path=str(path), last_assistant_message=f"Answer {number}."
        )
        process = start("--store", str(place.store), "hook", "claude-code")
        assert process.stdin is not None
        process.stdin.write(stopped)
        process.stdin.close()
        process.stdin = None
        time.sleep(0.04 * number)
        process.kill()
        process.communicate()

    def next_event() -> bool:
        return run(place, stopped) == "" and turns(memory, f"claude-code:{SESSION}") == expected

    wait_for(next_event, "what is left is captured at one of the next events")
    assert next_event()
