"""The program: whatever happens, it ends in time with exit code 0, and says nothing that is no answer."""

import json
import os
import resource
import signal
import socket
import subprocess
import sys
import time
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
from tests.hosts.hooks.conftest import troubles, turns
from tests.hosts.hooks.events import SESSION, add_lines, claude_answer, claude_line, event
from tests.sharing.background_owners import no_owner_left, owner_processes, wait_for

PROMPT = event("claude-code", "UserPromptSubmit", prompt="Which database does billing use?")


def start(*words: str, **options: object) -> "subprocess.Popen[bytes]":
    return subprocess.Popen(
        [sys.executable, "-m", "hydramem", *words],
        **{"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options},  # type: ignore[call-overload]
    )


def words(place: HookPlace) -> list[str]:
    return ["--store", str(place.store), *(["--project", place.project] if place.project else [])]


def run(place: HookPlace, raw: bytes, host: str = "claude-code", **options: object) -> str:
    """Run the program on an event; return what it wrote."""
    process = start(*words(place), "hook", host, **options)
    out, err = process.communicate(raw, timeout=60)
    assert (process.returncode, err) == (0, b"")
    return out.decode()


def given(place: HookPlace, raw: bytes, host: str = "claude-code", **options: object) -> str:
    """Run the program until it writes something; on a busy machine the time can be over before."""
    found = (run(place, raw, host, **options) for _ in range(10))
    return next(filter(None, found))


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


@pytest.mark.parametrize("host", ["claude-code", "codex", "gemini", "opencode", "emacs", ""])
def test_strange_input_is_answered_with_nothing(place: HookPlace, host: str) -> None:
    words = HookWords(host=host, options={"--store": str(place.store)})
    for what, raw in STRANGE.items():
        written: list[str] = []
        answer(raw, words, Deadline(30.0), written.append)
        assert written == [], what


def test_strange_input_does_not_fail_the_process(place: HookPlace) -> None:
    for what in ("binary", "deep"):
        assert run(place, STRANGE[what]) == ""
    assert len(troubles(place).splitlines()) == 2


@pytest.mark.engine
@pytest.mark.costly  # processes
def test_the_answer_is_one_json_object_whatever_fields_and_length_a_prompt_has(
    memory: hydramem.Memory, place: HookPlace
) -> None:
    memory.remember("Billing uses the database MySQL 8 — naïvely.")
    pasted = "Which database does billing use? " + "log line\n" * 300_000
    asked = event("codex", "UserPromptSubmit", prompt=pasted, surprise={"deep": [1]})
    written = given(place, asked, "codex", env={**os.environ, "PYTHONIOENCODING": "ascii", "LC_ALL": "C"})
    assert "naïvely" in json.loads(written)["hookSpecificOutput"]["additionalContext"]


def test_words_of_the_command_line_are_read_leniently() -> None:
    line = ["--store", "/a", "--project=work", "--json", "hook", "--config", "/c.yml", "gemini", "more"]
    given = hook_words(line)
    assert given.host == "gemini" and given.store == Path("/a")
    assert given.options == {"--store": "/a", "--project": "work", "--config": "/c.yml"}
    assert hook_words(["hook"]).host == "" == hook_words(["hook", "--store"]).host


def test_a_silent_owner_is_given_up(free_place: HookPlace, tmp_path: Path) -> None:
    free_place.store.mkdir()
    lock = FolderLock(free_place.store)
    lock.acquire()
    with socket.socket(socket.AF_UNIX) as silent:
        silent.bind(str(tmp_path / "s"))
        silent.listen()
        write_note(free_place.store, replace(own_note(), address=f"unix:{tmp_path / 's'}", key="00"))
        assert run(free_place, PROMPT) == ""
    assert "TimeoutError" in troubles(free_place)
    lock.release()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_signal_ends_it_with_exit_code_0(free_place: HookPlace, number: int) -> None:
    process = start(*words(free_place), "hook", "claude-code")
    # The interpreter itself handles SIGINT, until the program does.
    wait_for(lambda: handles(process.pid, signal.SIGTERM), "the program handles signals")
    process.send_signal(number)
    assert process.communicate(timeout=60) == (b"", b"") and process.returncode == 0


def handles(pid: int, number: int) -> bool:
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    (caught,) = [line.split()[1] for line in lines if line.startswith("SigCgt")]
    return bool(int(caught, 16) >> (number - 1) & 1)


def test_input_that_does_not_end_is_given_up(free_place: HookPlace) -> None:
    process = start(*words(free_place), "hook", "claude-code")
    assert process.wait(timeout=60) == 0
    assert process.communicate() == (b"", b"")


@pytest.mark.costly  # five processes
def test_a_full_disk_and_closed_streams_fail_nothing(memory: hydramem.Memory, place: HookPlace) -> None:
    memory.remember("Billing uses the database MySQL 8.")

    def no_room() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))

    assert run(place, PROMPT, preexec_fn=no_room) == "", "what is shown could not be noted"
    for closed in (0, 1, 2):
        process = start(*words(place), "hook", "claude-code", preexec_fn=partial(os.close, closed))
        process.communicate(PROMPT, timeout=60)
        assert process.returncode == 0
    reader, writer = os.pipe()
    os.close(reader)
    process = start(*words(place), "hook", "claude-code", stdout=writer)
    process.communicate(PROMPT, timeout=60)
    assert process.returncode == 0
    os.close(writer)


@pytest.mark.parametrize("trouble", ["sharing: off", "hooks: [", "hooks:\n  prompt: maybe"])
def test_settings_that_are_wrong_or_forbid_it_are_noted(free_place: HookPlace, trouble: str) -> None:
    free_place.store.mkdir()
    (free_place.store / "config.yml").write_text(trouble)
    written: list[str] = []
    answer(
        PROMPT,
        HookWords(host="claude-code", options={"--store": str(free_place.store)}),
        Deadline(30.0),
        written.append,
    )
    assert written == [] and len(troubles(free_place).splitlines()) == 1


@pytest.mark.costly  # two processes
def test_a_store_that_is_a_file_fails_nothing_and_help_is_shown(free_place: HookPlace) -> None:
    free_place.store.write_text("no folder")
    assert run(free_place, PROMPT) == ""
    assert b"claude-code, codex, gemini or opencode" in start("hook", "--help").communicate(timeout=60)[0]


@pytest.mark.slow
def test_the_first_event_starts_an_owner_that_answers_the_next_ones(
    free_place: HookPlace, tmp_path: Path
) -> None:
    path, said = (
        tmp_path / f"{SESSION}.jsonl",
        [("user", "Where is the crane?"), ("assistant", "At the pier.")],
    )
    add_lines(path, [claude_line("user", said[0][1]), claude_answer(said[1][1])])
    with no_owner_left(free_place.store) as folder:
        run(free_place, event("claude-code", "SessionStart", source="startup", transcript_path=str(path)))
        wait_for(lambda: len(owner_processes(folder)) == 1, "an owner runs")
        # The host kills itself and its children right after the stop has returned.
        stopped = event("claude-code", "Stop", transcript_path=str(path))
        for _ in range(5):
            host = subprocess.Popen(
                [sys.executable, "-c", _HOST, str(folder)], stdin=subprocess.PIPE, start_new_session=True
            )
            host.communicate(stopped, timeout=60)
            assert host.returncode == -signal.SIGKILL
        with hydramem.connect(folder, project="shop", background=True) as memory:
            wait_for(lambda: turns(memory, f"claude-code:{SESSION}") == said, "the turns are captured")
        assert len(owner_processes(folder)) == 1


_HOST = """
import os, signal, subprocess, sys
hook = [sys.executable, "-m", "hydramem", "--store", sys.argv[1], "hook", "claude-code"]
subprocess.run(hook, input=sys.stdin.buffer.read(), check=True)
os.killpg(0, signal.SIGKILL)
"""


@pytest.mark.slow
def test_hooks_that_are_killed_at_any_moment_lose_and_double_nothing(
    memory: hydramem.Memory, place: HookPlace, tmp_path: Path
) -> None:
    path, expected = tmp_path / f"{SESSION}.jsonl", []
    for number in range(12):
        add_lines(path, [claude_line("user", f"Question {number}?"), claude_answer(f"Answer {number}.")])
        expected += [("user", f"Question {number}?"), ("assistant", f"Answer {number}.")]
        stopped = event(
            "claude-code", "Stop", transcript_path=str(path), last_assistant_message=f"Answer {number}."
        )
        process = start(*words(place), "hook", "claude-code")
        assert process.stdin is not None
        process.stdin.write(stopped)
        process.stdin.close()
        process.stdin = None
        time.sleep(0.06 * number)  # wherever it is by then
        process.kill()
        process.communicate()

    def next_event() -> bool:
        return run(place, stopped) == "" and turns(memory, f"claude-code:{SESSION}") == expected

    wait_for(next_event, "what is left is captured at one of the next events")
    assert next_event()
