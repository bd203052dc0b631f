"""An event of a host as a value: what each coding agent writes to standard input, under its own names."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from hydramem.core.errors import InvalidInputError
from hydramem.core.inputs import SaidTurn
from hydramem.hosts.hooks.said_text import said_text
from hydramem.hosts.hooks.session_states import session_name
from hydramem.hosts.hooks.turn_values import author_of, digest, plain_text, said_turn

EventKind = Literal["session_start", "prompt", "before_compaction", "stop", "session_end"]

_CLAUDE_CODE: Mapping[str, EventKind] = {
    "SessionStart": "session_start",
    "UserPromptSubmit": "prompt",
    "PreCompact": "before_compaction",
    "Stop": "stop",
    "SessionEnd": "session_end",
}

EVENTS: Mapping[str, Mapping[str, EventKind]] = {
    "claude-code": _CLAUDE_CODE,
    "codex": _CLAUDE_CODE,
    "gemini": {
        "SessionStart": "session_start",
        "BeforeAgent": "prompt",
        "PreCompress": "before_compaction",
        "AfterAgent": "stop",
        "SessionEnd": "session_end",
    },
    "opencode": {
        "session.created": "session_start",
        "chat.message": "prompt",
        "session.compacting": "before_compaction",
        "session.idle": "stop",
        "session.deleted": "session_end",
    },
}
"""The events of each host that mean something here; all others are ignored."""

WITH_TRANSCRIPT = ("claude-code", "codex")
"""The hosts whose turns are read from the file that `transcript_path` names."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HookEvent:
    """One event.

    Attributes:
        host: A key of `EVENTS`.
        name: What the host calls it; its answer repeats that.
        session_id: The host's id of the session.
        folder: The working directory; None where the host names none.
        source: Why a session starts: startup, resume, clear, compact or fork.
        prompt: What the user asks, without what hooks added to it.
        transcript: The host's log of the session.
        last_message: What the assistant said last, which the log may not hold yet.
        turns: What was said, of a host that tells it in the event itself.
    """

    host: str
    name: str
    kind: EventKind
    session_id: str
    folder: Path | None = None
    source: str = ""
    prompt: str = ""
    transcript: Path | None = None
    last_message: str = ""
    turns: tuple[SaidTurn, ...] = ()

    @property
    def session(self) -> str:
        """The name of the session in the memory."""
        return session_name(self.host, self.session_id)


def read_event(host: str, raw: bytes) -> HookEvent | None:
    """Read what a host wrote to standard input; fields that are not known are ignored.

    Args:
        host: A key of `EVENTS`.
        raw: One JSON object.

    Returns:
        None for an event that means nothing here.

    Raises:
        InvalidInputError: The host is not known, or it is no event.
    """
    if host not in EVENTS:
        raise InvalidInputError(f"{host[:40]!r}: is none of the hosts {', '.join(EVENTS)}")
    try:
        fields = json.loads(raw.decode("utf-8", "replace"))
    except (ValueError, RecursionError) as error:
        raise InvalidInputError(f"what came is no JSON ({type(error).__name__}, {len(raw)} bytes)") from None
    if not isinstance(fields, dict):
        raise InvalidInputError(f"what came is no event but {type(fields).__name__}")
    name = plain_text(fields.get("hook_event_name"))
    kind = EVENTS[host].get(name)
    session_id = plain_text(fields.get("session_id")).strip()
    if kind is None or not session_id:
        return None
    return HookEvent(
        host=host,
        name=name,
        kind=kind,
        session_id=_short(session_id),
        folder=_path(fields.get("cwd")),
        source=plain_text(fields.get("source")),
        prompt=said_text(plain_text(fields.get("prompt"))),
        transcript=_path(fields.get("transcript_path")),
        last_message=plain_text(fields.get("last_assistant_message")),
        turns=_told_turns(host, kind, session_id, fields),
    )


def _short(session_id: str) -> str:
    """Return an id that can be part of a name: one that is long or has odd characters is hashed."""
    return session_id if len(session_id) <= 100 and session_id.isprintable() else digest(session_id)


def _path(value: object) -> Path | None:
    text = plain_text(value)
    return Path(text) if text else None


def _told_turns(
    host: str, kind: EventKind, session_id: str, fields: Mapping[str, Any]
) -> tuple[SaidTurn, ...]:
    """Return the turns that an event itself tells."""
    if host == "gemini" and kind == "stop":
        both = [plain_text(fields.get(name)) for name in ("prompt", "prompt_response")]
        at = plain_text(fields.get("timestamp"))
        key = digest(session_id, at, *both)
        found = [
            said_turn(author, text, key=f"{key}:{author}", at=at)
            for author, text in zip(("user", "assistant"), both, strict=True)
        ]
        return tuple(turn for turn in found if turn is not None)
    messages = fields.get("messages") if host == "opencode" else None
    told = (each for each in messages if isinstance(each, dict)) if isinstance(messages, list) else ()
    return tuple(turn for each in told if (turn := _told_message(each)) is not None)


def _told_message(message: Mapping[str, Any]) -> SaidTurn | None:
    author, text = author_of(message.get("role")), plain_text(message.get("text"))
    at = plain_text(message.get("at"))
    key = plain_text(message.get("id")) or digest(author or "", at, text)
    return None if author is None else said_turn(author, text, key=key, at=at)
