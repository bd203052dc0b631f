"""Turns from the transcripts of hosts: JSON lines that grow while a session runs.

Tool calls and their output, thinking, summaries, what a host adds by itself, and the turns of subagents and
of other sessions are left out.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from hydramem.core.inputs import SaidTurn
from hydramem.hosts.hooks.turn_values import author_of, digest, plain_text, said_turn

MOST_TURNS = 32
MOST_TEXT = 60_000
"""Turns, and characters of them, of one stretch, so that storing it takes a moment."""

_MOST_BYTES = 8 << 20
"""Bytes of one stretch."""

_MOST_LINE_BYTES = 4 << 20
"""A longer line is no turn: it holds what a tool returned."""

_NOT_SAID = ("isMeta", "isSidechain", "isCompactSummary", "isVisibleInTranscriptOnly", "isApiErrorMessage")
_BY_HOST = (
    "<command-name>",
    "<command-message>",
    "<local-command-",
    "<bash-",
    "<task-notification>",
    "[Request interrupted by user",
)
"""How texts begin that Claude Code writes in the user's place."""

_ELEMENT = re.compile(r"<([a-z][a-z_-]{0,60})[^<>]{0,60}>")
_INSTRUCTIONS = "# AGENTS.md instructions"
"""How texts look that Codex writes in the user's place."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TranscriptStretch:
    """Part of a transcript.

    Attributes:
        turns: What was said in it.
        end: Bytes from the beginning of the file to its end, which is that of a line.
    """

    turns: tuple[SaidTurn, ...]
    end: int


def read_stretch(path: Path, event_host: str, session_id: str, *, start: int) -> TranscriptStretch:
    """Read the next turns of a transcript; a line that has no end yet is left for the next time.

    Args:
        path: The transcript.
        event_host: The host that writes it.
        session_id: The session; lines of another one, as of a copied history, are left out.
        start: Where the stretch begins, in bytes; from the beginning where the file is shorter.

    Raises:
        OSError: The file cannot be read.
    """
    sessions = frozenset({session_id, path.stem})
    turns: list[SaidTurn] = []
    with path.open("rb") as file:
        at = start if start <= file.seek(0, 2) else 0
        file.seek(at)
        first, text = at, 0
        while len(turns) < MOST_TURNS and text < MOST_TEXT and at - first < _MOST_BYTES:
            line, length = _line(file)
            if not length:
                break
            at += length
            turn = _turn(line, event_host, sessions)
            if turn is not None:
                turns.append(turn)
                text += len(turn.text)
    return TranscriptStretch(turns=tuple(turns), end=at)


def _line(file: BinaryIO) -> tuple[bytes, int]:
    """Return the next whole line and its length; an empty one for a line that is too long to be a turn."""
    line = file.readline(_MOST_LINE_BYTES)
    if line.endswith(b"\n"):
        return line, len(line)
    length = len(line)
    while part := file.readline(_MOST_LINE_BYTES):
        length += len(part)
        if part.endswith(b"\n"):
            return b"", length
    return b"", 0


def _turn(line: bytes, host: str, sessions: frozenset[str]) -> SaidTurn | None:
    if b'"user"' not in line and b'"assistant"' not in line:
        return None
    try:
        entry = json.loads(line)
    except (ValueError, RecursionError):  # damaged: the lines around it are not
        return None
    if not isinstance(entry, dict):
        return None
    return _codex_turn(entry) if host == "codex" else _claude_turn(entry, line, sessions)


def _claude_turn(entry: Mapping[str, Any], line: bytes, sessions: frozenset[str]) -> SaidTurn | None:
    author, message = author_of(entry.get("type")), entry.get("message")
    if author is None or not isinstance(message, dict) or any(entry.get(name) for name in _NOT_SAID):
        return None
    session = entry.get("sessionId")
    if entry.get("forkedFrom") or (isinstance(session, str) and session not in sessions):
        return None
    origin = entry.get("origin")
    by_person = not isinstance(origin, dict) or origin.get("kind") in (None, "human")
    if author == "user" and (not by_person or entry.get("promptSource") == "system"):
        return None
    text = _text(message.get("content"), ("text",), never="tool_result")
    if author == "user" and text.lstrip().startswith(_BY_HOST):
        return None
    key = plain_text(entry.get("uuid")) or digest(line.decode("utf-8", "replace"))
    return said_turn(author, text, key=key, at=plain_text(entry.get("timestamp")))


def _codex_turn(entry: Mapping[str, Any]) -> SaidTurn | None:
    message = entry.get("payload")
    if entry.get("type") != "response_item" or not isinstance(message, dict):
        return None
    author = author_of(message.get("role"))
    if author is None or message.get("type") != "message":
        return None
    text = _text(message.get("content"), ("input_text", "output_text"))
    if author == "user" and _is_codex_context(text.strip()):
        return None
    at = plain_text(entry.get("timestamp"))
    key = plain_text(message.get("id")) or digest(author, at, text)
    return said_turn(author, text, key=key, at=at)


def _is_codex_context(text: str) -> bool:
    element = _ELEMENT.match(text)
    return text.startswith(_INSTRUCTIONS) or (element is not None and text.endswith(f"</{element.group(1)}>"))


def _text(content: object, kinds: tuple[str, ...], *, never: str = "") -> str:
    """Return the text of a message: itself, or its blocks of text; empty where it has a block of `never`."""
    if isinstance(content, str):
        return plain_text(content)
    blocks = [each for each in content if isinstance(each, dict)] if isinstance(content, list) else []
    if any(each.get("type") == never for each in blocks):
        return ""
    return "\n".join(plain_text(each.get("text")) for each in blocks if each.get("type") in kinds)
