"""What counts as said in a transcript, and from where to where it is read."""

import json
from pathlib import Path

import pytest

from hydramem.hosts.hooks import transcripts
from hydramem.hosts.hooks.transcripts import read_stretch
from tests.hosts.hooks.events import BLOCK, SESSION, add_lines, claude_answer, claude_line, codex_line


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / f"{SESSION}.jsonl"


def said(path: Path, host: str = "claude-code", start: int = 0) -> list[tuple[str, str]]:
    return [(turn.author, turn.text) for turn in read_stretch(path, host, SESSION, start=start).turns]


def test_both_sides_words_are_read_from_claude_code(path: Path) -> None:
    add_lines(path, [claude_line("user", "Where is the crane?"), claude_answer("At the east pier.")])
    add_lines(path, [claude_line("user", [{"type": "text", "text": "Since when?"}])])
    expected = [("user", "Where is the crane?"), ("assistant", "At the east pier."), ("user", "Since when?")]
    assert said(path) == expected


def test_what_nobody_said_is_left_out_of_claude_code(path: Path) -> None:
    blocks = [{"type": "thinking", "thinking": "secret"}, {"type": "tool_use", "name": "Bash", "input": {}}]
    result = [{"type": "tool_result", "content": "root:x:0"}, {"type": "text", "text": "noise"}]
    lines = [
        claude_line("assistant", blocks),
        claude_line("user", result, toolUseResult={"stdout": "root:x:0"}),
        claude_line("user", "Caveat: generated.", isMeta=True),
        claude_line("user", "This session is being continued.", isCompactSummary=True),
        claude_line("user", "Task of a subagent.", isSidechain=True),
        claude_line("user", "<command-name>/clear</command-name>"),
        claude_line("user", "<local-command-stdout>done</local-command-stdout>"),
        claude_line("user", "[Request interrupted by user]"),
        claude_line("user", "Go on.", promptSource="system", origin={"kind": "auto-continuation"}),
        claude_line("user", "Of another session.", sessionId="other"),
        claude_line("user", "Copied.", forkedFrom={"sessionId": "other", "messageUuid": "1"}),
        claude_answer("You have hit your limit.", isApiErrorMessage=True),
        {"type": "system", "content": "Stop hook ran", "uuid": "1", "sessionId": SESSION},
        {"type": "summary", "summary": "About cranes", "leafUuid": "1"},
        {"type": "attachment", "attachment": {"type": "hook_additional_context", "content": [BLOCK]}},
        claude_line("user", f"UserPromptSubmit hook additional context: {BLOCK}"),
        claude_line("user", f"<system-reminder>\n{BLOCK}\n</system-reminder>"),
    ]
    add_lines(path, lines)
    assert said(path) == []


def test_codex_context_and_developer_messages_are_left_out(path: Path) -> None:
    lines = [
        {"timestamp": "2026-11-22T09:00:00Z", "type": "session_meta", "payload": {"id": SESSION}},
        codex_line("developer", BLOCK),
        codex_line("user", "# AGENTS.md instructions for /srv/ada\n\nBe kind."),
        codex_line("user", "<environment_context>\n<cwd>/srv</cwd>\n</environment_context>"),
        codex_line("user", "<turn_aborted reason='interrupted'>\nx\n</turn_aborted>"),
        codex_line("user", "Where is the crane?"),
        {"type": "event_msg", "payload": {"type": "user_message", "message": "Where is the crane?"}},
        {"type": "response_item", "payload": {"type": "reasoning", "summary": "assistant"}},
        {"type": "response_item", "payload": {"type": "function_call_output", "output": "user"}},
        codex_line("assistant", "At the east pier.", id="msg_1"),
        {"type": "event_msg", "payload": {"type": "agent_message", "message": "At the east pier."}},
    ]
    add_lines(path, lines)
    assert said(path, "codex") == [("user", "Where is the crane?"), ("assistant", "At the east pier.")]


def test_reading_goes_on_where_it_stopped_and_waits_for_the_end_of_a_line(path: Path) -> None:
    add_lines(path, [claude_line("user", "First.")])
    end = read_stretch(path, "claude-code", SESSION, start=0).end
    whole = json.dumps(claude_answer("Second.")).encode() + b"\n"
    with path.open("ab") as file:
        file.write(whole[:-1])
    assert read_stretch(path, "claude-code", SESSION, start=end).end == end
    with path.open("ab") as file:
        file.write(whole[-1:])
    assert said(path, start=end) == [("assistant", "Second.")]
    assert said(path, start=10**9) == [("user", "First."), ("assistant", "Second.")], "a file that shrank"


def test_damaged_and_strange_lines_cost_only_themselves(path: Path) -> None:
    add_lines(path, [claude_line("user", "Before.")])
    with path.open("ab") as file:
        file.write(b'{"type":"user","message":\n\x00\xff\xfe"user"\n[]\n"user"\n' + b'{"type":"user"}\n')
        file.write(b'{"type":"user","message":' + b"[" * 100_000 + b"\n")
        file.write(b'{"type":"assistant","message":{"content":[1,null,{"type":"text","text":7}]}}\n')
    add_lines(
        path, [claude_line("user", "A lone \ud800 and a \0.", timestamp="yesterday"), claude_answer("After.")]
    )
    assert said(path) == [("user", "Before."), ("user", "A lone ? and a ."), ("assistant", "After.")]


def test_a_huge_line_is_passed_over_and_a_long_turn_cut(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transcripts, "_MOST_LINE_BYTES", 200_000)
    add_lines(
        path, [claude_line("user", "x" * 300_000), claude_answer("y" * 100_000), claude_line("user", "End.")]
    )
    found = read_stretch(path, "claude-code", SESSION, start=0)
    assert [len(turn.text) for turn in found.turns] == [50_000, 4]
    assert found.end == path.stat().st_size


def test_a_stretch_is_bounded(path: Path) -> None:
    add_lines(path, [claude_line("user", f"Turn {number}.") for number in range(100)])
    found, start, reads = [], 0, 0
    while (stretch := read_stretch(path, "claude-code", SESSION, start=start)).end != start:
        found += stretch.turns
        start, reads = stretch.end, reads + 1
    assert len({turn.key for turn in found}) == 100 and reads == 4
