"""Chat transcripts in JSON and JSON lines: the common shapes, each read into conversations of turns.

A transcript is a list (or lines) of objects that say who and what; or objects that hold such a list, as
chat exports do. JSON that is neither is no transcript.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from hydramem.core.row_types import Metadata
from hydramem.ingest.decode import clean
from hydramem.text.dates.transcript_times import parse_loose

_WHO = ("author", "speaker", "role", "sender", "from", "name", "user")

_WHAT = ("content", "text", "message", "value", "body", "parts")

_WHEN = ("time", "timestamp", "created_at", "create_time", "date", "datetime", "happened_at", "ts")

_SESSION = ("session", "session_id", "conversation_id", "thread_id", "chat_id")

_LISTS = (
    "messages",
    "chat_messages",
    "turns",
    "conversation",
    "conversations",
    "chats",
    "sessions",
    "dialogue",
    "history",
)

_NAMES = ("session", "session_id", "conversation_id", "uuid", "id", "title", "name")

_DEEPEST = 6

_LONGEST_VALUE = 2000


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One turn: who said what and, where it is known, when (UTC)."""

    author: str
    text: str
    happened_at: datetime | None = None
    metadata: Metadata = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversation:
    """Turns of one session, in order."""

    name: str
    turns: tuple[Turn, ...]


def parse_transcript(text: str, *, lines: bool, name: str) -> tuple[Conversation, ...]:
    """Read a transcript; empty where the text is none.

    Args:
        text: JSON, or JSON lines.
        lines: Whether each line is a value.
        name: What a conversation that does not name itself is called.
    """
    values = _load_lines(text) if lines else _load(text)
    if values is None and lines:
        values = _load(text)
    if values is None:
        return ()
    named: dict[str, list[Turn]] = {}
    for session, turn in _turns(values, name, 0):
        named.setdefault(session, []).append(turn)
    return tuple(Conversation(name=session, turns=tuple(turns)) for session, turns in named.items())


def _load(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        # RecursionError: the parser gives up on thousands of nested brackets; then it is text.
        return None


def _load_lines(text: str) -> list[Any] | None:
    values = []
    for line in text.split("\n"):
        if line.strip():
            value = _load(line)
            if not isinstance(value, dict):
                return None
            values.append(value)
    return values or None


def _turns(value: Any, name: str, depth: int) -> Iterator[tuple[str, Turn]]:
    if depth > _DEEPEST:
        return
    if isinstance(value, list):
        if _are_messages(value):
            yield from _messages(value, name)
            return
        for index, item in enumerate(value):
            if isinstance(item, dict | list):
                yield from _turns(item, f"{name}-{index + 1}" if len(value) > 1 else name, depth + 1)
    elif isinstance(value, dict):
        yield from _nested(value, name, depth)


def _nested(value: Mapping[str, Any], name: str, depth: int) -> Iterator[tuple[str, Turn]]:
    own = next(
        (clean(str(value[key])) for key in _NAMES if isinstance(value.get(key), str | int) and value[key]),
        name,
    )
    if isinstance(value.get("mapping"), dict):
        yield from _messages(_branch(value), own)
        return
    for key in _LISTS:
        held = value.get(key)
        if isinstance(held, list):
            yield from _turns(held, own, depth + 1)
            return


def _branch(value: Mapping[str, Any]) -> list[Any]:
    """Follow a tree of messages from its current leaf to the root: abandoned drafts are left out."""
    mapping, messages, seen = value["mapping"], [], set()
    node = value.get("current_node") or next(reversed(mapping), None)
    while isinstance(node, str) and node in mapping and node not in seen and isinstance(mapping[node], dict):
        seen.add(node)
        message = mapping[node].get("message")
        if isinstance(message, dict):
            messages.append(message)
        node = mapping[node].get("parent")
    return messages[::-1]


def _are_messages(values: Sequence[Any]) -> bool:
    said = sum(1 for value in values if isinstance(value, dict) and _who(value)[1] and _what(value))
    return said > 0 and 2 * said >= len(values)


def _messages(values: Sequence[Any], name: str) -> Iterator[tuple[str, Turn]]:
    for value in values:
        if not isinstance(value, dict):
            continue
        who_key, author = _who(value)
        said = _what(value)
        if not author or not said:
            continue
        what_key, text = said
        session = next(
            (clean(str(value[key])) for key in _SESSION if isinstance(value.get(key), str | int)), name
        )
        when_key = next((key for key in _WHEN if value.get(key) not in (None, "")), None)
        happened = parse_loose(value[when_key]) if when_key else None
        used = {who_key, what_key, when_key if happened else None, *_SESSION}
        yield session, Turn(author=author, text=text, happened_at=happened, metadata=_rest(value, used))


def _who(value: Mapping[str, Any]) -> tuple[str, str]:
    for key in _WHO:
        who = value.get(key)
        if isinstance(who, dict):
            who = who.get("name") or who.get("role")
        if isinstance(who, str) and who.strip():
            return key, " ".join(clean(who).split())[:200]
    return "", ""


def _what(value: Mapping[str, Any]) -> tuple[str, str] | None:
    for key in _WHAT:
        text = _text(value.get(key), 0)
        if text.strip():
            return key, clean(text).strip()
    return None


def _text(content: Any, depth: int) -> str:
    """Join the parts of a content: text, or a list of parts that hold text."""
    if isinstance(content, str):
        return content
    if depth > _DEEPEST:
        return ""
    if isinstance(content, list):
        return "\n".join(part for item in content if (part := _text(item, depth + 1)))
    if isinstance(content, dict):
        return next(
            (
                part
                for key in ("text", "parts", "content", "value")
                if (part := _text(content.get(key), depth + 1))
            ),
            "",
        )
    return ""


def _rest(value: Mapping[str, Any], used: set[str | None]) -> dict[str, object]:
    """Keep the other keys that are plain values, or small ones."""
    rest: dict[str, object] = {}
    for key, held in value.items():
        if key in used or held in (None, "", [], {}):
            continue
        if isinstance(held, str | int | bool):
            rest[clean(key)] = clean(held)[:_LONGEST_VALUE] if isinstance(held, str) else held
        elif isinstance(held, float):
            rest[clean(key)] = held if held == held and abs(held) != float("inf") else str(held)
        elif isinstance(held, list | dict) and _is_small(held):
            rest[clean(key)] = _cleaned(held)
    return rest


def _is_small(held: Any) -> bool:
    try:
        written = json.dumps(held, ensure_ascii=False, allow_nan=False)
    except (ValueError, RecursionError):
        return False
    return len(written) <= _LONGEST_VALUE and written.count("[") + written.count("{") <= _LONGEST_VALUE // 20


def _cleaned(held: Any) -> Any:
    """Clean the texts of a value that `_is_small`, and so not deep."""
    if isinstance(held, str):
        return clean(held)
    if isinstance(held, list):
        return [_cleaned(each) for each in held]
    if isinstance(held, dict):
        return {clean(key): _cleaned(each) for key, each in held.items()}
    return held
