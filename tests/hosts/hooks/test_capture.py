"""What was said is in the memory once, whatever events come, and nothing else is."""

import os
import threading
from pathlib import Path

import pytest

import hydramem
from hydramem.hosts.hooks import waiting_turns
from hydramem.hosts.hooks.answer_event import HookPlace
from hydramem.hosts.hooks.session_states import SessionStates
from tests.hosts.hooks.conftest import Hook, hook_at, troubles, turns
from tests.hosts.hooks.events import BLOCK, SESSION, add_lines, claude_answer, claude_line, codex_line, event

CLAUDE = f"claude-code:{SESSION}"
TALK = [("user", "Where is the crane?"), ("assistant", "At the east pier.")]


@pytest.fixture
def transcript(tmp_path: Path) -> Path:
    path = tmp_path / f"{SESSION}.jsonl"
    add_lines(path, [claude_line("user", TALK[0][1]), claude_answer(TALK[1][1])])
    return path


def stop(transcript: Path, name: str = "Stop", **fields: object) -> bytes:
    return event("claude-code", name, transcript_path=str(transcript), **fields)


def test_every_event_can_come_again_and_states_can_be_lost_or_damaged(
    hook: Hook, memory: hydramem.Memory, transcript: Path, place: HookPlace
) -> None:
    for name in ("Stop", "Stop", "PreCompact", "SessionEnd"):
        assert hook("claude-code", stop(transcript, name, last_assistant_message=TALK[1][1])) == ""
    (file,) = (place.store / "hooks" / "sessions").iterdir()
    file.unlink()
    hook("claude-code", stop(transcript))
    for content in ("", "[]", '{"host": 1}', '{"offset": "x"}', "\x00", '{"said": [1]}'):
        file.write_text(content)
        hook("claude-code", stop(transcript))
    assert turns(memory, CLAUDE) == TALK


def test_events_at_once_capture_each_turn_once(hook: Hook, memory: hydramem.Memory, transcript: Path) -> None:
    add_lines(transcript, [claude_line("user", f"Question {number}.") for number in range(20)])
    threads = [
        threading.Thread(target=hook, args=("claude-code", stop(transcript, name)))
        for name in ("Stop", "Stop", "SessionEnd")
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert turns(memory, CLAUDE) == [*TALK, *(("user", f"Question {number}.") for number in range(20))]


def test_the_last_message_is_captured_before_the_transcript_holds_it(
    hook: Hook, memory: hydramem.Memory, transcript: Path
) -> None:
    for _ in range(2):
        hook("claude-code", stop(transcript, last_assistant_message="It was painted."))
        assert turns(memory, CLAUDE) == [*TALK, ("assistant", "It was painted.")]
    add_lines(transcript, [claude_answer("It was  painted."), claude_line("user", "Thank you, Claude.")])
    hook("claude-code", stop(transcript, "SessionEnd"))
    assert turns(memory, CLAUDE) == [
        *TALK, ("assistant", "It was painted."), ("user", "Thank you, Claude.")
    ]  # fmt: skip


def test_a_hook_that_is_killed_before_it_notes_what_it_captured_captures_nothing_twice(
    hook: Hook, memory: hydramem.Memory, transcript: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def killed(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(SessionStates, "save", killed)
        with pytest.raises(KeyboardInterrupt):
            hook("claude-code", stop(transcript))
    hook("claude-code", stop(transcript))
    assert turns(memory, CLAUDE) == TALK


def test_the_next_session_captures_what_no_event_came_for(
    hook: Hook, memory: hydramem.Memory, transcript: Path, tmp_path: Path
) -> None:
    hook("claude-code", stop(transcript))
    add_lines(transcript, [claude_line("user", "And the second crane?")])  # the host is killed
    for source in ("startup", "resume"):
        fields = {"session_id": "next", "transcript_path": str(tmp_path / "next.jsonl"), "source": source}
        hook("claude-code", event("claude-code", "SessionStart", **fields))
    assert turns(memory, CLAUDE) == [*TALK, ("user", "And the second crane?")]


def test_only_what_was_said_is_captured_from_transcripts(
    hook: Hook, memory: hydramem.Memory, transcript: Path, tmp_path: Path
) -> None:
    injected = f"UserPromptSubmit hook additional context: {BLOCK}\n\nAnd the pier?"
    add_lines(transcript, [claude_line("user", injected)])
    hook("claude-code", stop(transcript, "PreCompact", trigger="auto"))
    assert turns(memory, CLAUDE) == [*TALK, ("user", "And the pier?")]
    rollout = tmp_path / "rollout-2026-11-22.jsonl"
    add_lines(rollout, [codex_line("developer", BLOCK), *(codex_line(*turn) for turn in TALK)])
    told = event("codex", "Stop", transcript_path=str(rollout), last_assistant_message=TALK[1][1])
    for _ in range(2):
        hook("codex", told)
    assert turns(memory, f"codex:{SESSION}") == TALK


def test_gemini_tells_both_texts_of_a_turn(hook: Hook, memory: hydramem.Memory, place: HookPlace) -> None:
    prompt = f"<hook_context>{BLOCK}</hook_context>\n\n{TALK[0][1]}"
    told = event("gemini", "AfterAgent", prompt=prompt, prompt_response=TALK[1][1], stop_hook_active=False)
    for _ in range(3):
        hook("gemini", told)
    later = event(
        "gemini", "AfterAgent", prompt="ok", prompt_response="Done.", timestamp="2026-11-22T08:30:00Z"
    )
    hook("gemini", later)
    assert turns(memory, f"gemini:{SESSION}") == [*TALK, ("user", "ok"), ("assistant", "Done.")]
    assert list(waiting_turns.waiting(place.store)) == []


def test_opencode_tells_messages_with_their_ids(hook: Hook, memory: hydramem.Memory) -> None:
    messages = [
        {"id": f"msg_{place}", "role": role, "text": text, "at": "2026-11-22T08:26:33.810Z"}
        for place, (role, text) in enumerate([*TALK, ("system", "Be kind."), ("user", BLOCK)])
    ]
    for count in (2, 4, 4):
        hook("opencode", event("opencode", "session.idle", messages=messages[:count]))
    assert turns(memory, f"opencode:{SESSION}") == TALK


def test_turns_wait_where_the_memory_does_not_take_them(free_place: HookPlace) -> None:
    hook = hook_at(free_place)
    told = event("gemini", "AfterAgent", prompt=TALK[0][1], prompt_response=TALK[1][1])
    free_place.store.mkdir()
    (free_place.store / "config.yml").write_text("sharing: off\n")
    with pytest.raises(hydramem.InvalidInputError, match="sharing"):
        hook("gemini", told)
    (free_place.store / "config.yml").unlink()
    (file,) = [found.file for found in waiting_turns.waiting(free_place.store)]
    assert file.stat().st_mode & 0o777 == 0o600
    with hydramem.connect(free_place.store, project="shop") as memory:
        hook("gemini", event("gemini", "SessionStart", source="startup", session_id="next"))
        assert turns(memory, f"gemini:{SESSION}") == TALK
    assert not file.exists()


def test_a_turn_that_the_memory_refuses_costs_only_itself(
    free_place: HookPlace, transcript: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HYDRAMEM_MEMORY_MAX_CHARS", "1000")
    with hydramem.connect(free_place.store, project="shop") as strict:
        add_lines(transcript, [claude_line("user", "secret " * 500), claude_answer("I see.")])
        hook_at(free_place)("claude-code", stop(transcript))
        assert turns(strict, CLAUDE) == [*TALK, ("assistant", "I see.")]
    assert "capture: InvalidInputError" in troubles(free_place) and "secret" not in troubles(free_place)


def test_waiting_files_that_cannot_be_read_now_stay_and_damaged_ones_go(hook: Hook, place: HookPlace) -> None:
    folder = place.store / waiting_turns.FOLDER
    folder.mkdir(parents=True)
    file = folder / "later.json"
    file.symlink_to(file.name)  # too many levels of links: an error of the system, as too many open files
    (folder / "a.json").write_text("{")
    (folder / "b.json").write_text('{"project": "shop", "session": "s", "turns": [{}]}')
    hook("gemini", event("gemini", "SessionEnd", reason="exit"))
    assert list(waiting_turns.waiting(place.store)) == []
    assert list(folder.iterdir()) == [file]


def test_events_can_be_turned_off(
    hook: Hook, memory: hydramem.Memory, transcript: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for setting in ("STOP", "SESSION_END", "BEFORE_COMPACTION"):
        monkeypatch.setenv(f"HYDRAMEM_HOOKS_{setting}", "false")
    for name in ("Stop", "SessionEnd", "PreCompact"):
        hook("claude-code", stop(transcript, name))
    assert turns(memory, CLAUDE) == []


def test_no_words_are_left_in_the_files_of_the_hooks(
    hook: Hook, memory: hydramem.Memory, place: HookPlace, transcript: Path
) -> None:
    hook("claude-code", stop(transcript, last_assistant_message="It was painted."))
    hook("gemini", event("gemini", "AfterAgent", prompt="A crane?", prompt_response="A crane."))
    files = [path for path in (place.store / "hooks").rglob("*") if path.is_file()]
    assert files
    for path in files:
        assert not any(word in path.read_text() for word in ("crane", "pier", "painted")), path


def test_old_states_go(hook: Hook, memory: hydramem.Memory, place: HookPlace, transcript: Path) -> None:
    hook("claude-code", stop(transcript))
    (file,) = (place.store / "hooks" / "sessions").glob("*.json")
    os.utime(file, (0, 0))
    hook("claude-code", event("claude-code", "SessionStart", source="startup", session_id="next"))
    assert not file.exists()
