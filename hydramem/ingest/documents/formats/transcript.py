"""Reads chat transcripts into conversations of turns: the common shapes of JSON and JSON lines, and text.

A transcript is a list (or lines) of objects that have an author and a text; or objects that contain such a
list, as chat exports do. JSON that is neither is no transcript.
"""

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from hydramem.core.row_types import Metadata
from hydramem.ingest.documents.formats.decode import clean
from hydramem.text.dates.transcript_times import parse_loose

_AUTHOR_KEYS = ("author", "speaker", "role", "sender", "from", "name", "user")
_CONTENT_KEYS = ("content", "text", "message", "value", "body", "parts")
_TIME_KEYS = ("time", "timestamp", "created_at", "create_time", "date", "datetime", "happened_at", "ts")
_SESSION_KEYS = ("session", "session_id", "conversation_id", "thread_id", "chat_id")

_LIST_KEYS = (
    *("messages", "chat_messages", "turns", "conversation", "conversations", "chats"),
    *("sessions", "dialogue", "history"),
)
_NAME_KEYS = ("session", "session_id", "conversation_id", "uuid", "id", "title", "name")
_DEEPEST = 6
_LONGEST_VALUE = 2000


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One turn: its author, its text and, where it is known, its time (UTC)."""

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
    sessions: dict[str, list[Turn]] = {}
    for session, turn in _turns(values, name, 0):
        sessions.setdefault(session, []).append(turn)
    return tuple(Conversation(name=session, turns=tuple(turns)) for session, turns in sessions.items())


def _load(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        # RecursionError: the parser cannot read thousands of nested brackets.
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
        (
            clean(str(value[key]))
            for key in _NAME_KEYS
            if isinstance(value.get(key), str | int) and value[key]
        ),
        name,
    )
    if isinstance(value.get("mapping"), dict):
        yield from _messages(_branch(value), own)
        return
    for key in _LIST_KEYS:
        held = value.get(key)
        if isinstance(held, list):
            yield from _turns(held, own, depth + 1)
            return


def _branch(value: Mapping[str, Any]) -> list[Any]:
    """Return the messages from the root of a tree to its current leaf, without abandoned drafts."""
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
    count = sum(1 for value in values if isinstance(value, dict) and _author(value)[1] and _content(value))
    return count > 0 and 2 * count >= len(values)


def _messages(values: Sequence[Any], name: str) -> Iterator[tuple[str, Turn]]:
    for value in values:
        if not isinstance(value, dict):
            continue
        author_key, author = _author(value)
        content = _content(value)
        if not author or not content:
            continue
        content_key, text = content
        session = next(
            (clean(str(value[key])) for key in _SESSION_KEYS if isinstance(value.get(key), str | int)), name
        )
        time_key = next((key for key in _TIME_KEYS if value.get(key) not in (None, "")), None)
        happened = parse_loose(value[time_key]) if time_key else None
        used = {author_key, content_key, time_key if happened else None, *_SESSION_KEYS}
        yield session, Turn(author=author, text=text, happened_at=happened, metadata=_rest(value, used))


def _author(value: Mapping[str, Any]) -> tuple[str, str]:
    for key in _AUTHOR_KEYS:
        who = value.get(key)
        if isinstance(who, dict):
            who = who.get("name") or who.get("role")
        if isinstance(who, str) and who.strip():
            return key, " ".join(clean(who).split())[:200]
    return "", ""


def _content(value: Mapping[str, Any]) -> tuple[str, str] | None:
    for key in _CONTENT_KEYS:
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
        parts = (_text(content.get(key), depth + 1) for key in ("text", "parts", "content", "value"))
        return next((part for part in parts if part), "")
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
    """Clean the texts of a value that `_is_small` accepts, and that is therefore not deep."""
    if isinstance(held, str):
        return clean(held)
    if isinstance(held, list):
        return [_cleaned(each) for each in held]
    if isinstance(held, dict):
        return {clean(key): _cleaned(each) for key, each in held.items()}
    return held


_NAME = r"[^\W\d_][\w.'’-]{0,30}(?: [\w.'’-]{1,20}){0,2}"

# `Ada: text`, also with its time before it: `[8 May 2023 9:15] Ada: text`.
_LINE = re.compile(rf"^[ \t]*(?:\[([^\]\n]{{4,60}})\][ \t]*)?({_NAME}):[ \t]+(?=\S)", re.MULTILINE)
_BRACKETED = re.compile(r"[ \t]*\[([^\]\n]{4,60})\][ \t]*")
_FEWEST_TURNS = 4
_LONGEST_ABOVE = 200

# A name that recurs less often than this share of the commonest is a word within a turn.
_RECURS = 0.2
_ENDS = tuple(".!?…。！？؟।)]\"”'")


def parse_dialogue(text: str, *, name: str) -> tuple[Conversation, ...]:
    """Read a dialogue; empty where the text is none.

    Args:
        text: Clean text; a date in brackets on a line of its own is the date of the turns after it.
        name: What the conversation is called.
    """
    lines = list(_LINE.finditer(text))
    speakers = _speakers(lines)
    lines = [line for line in lines if line.group(2) in speakers]
    if len(lines) < _FEWEST_TURNS or lines[0].start() > _LONGEST_ABOVE:
        return ()
    turns = tuple(_dialogue_turns(text, lines))
    if 2 * sum(turn.text.endswith(_ENDS) for turn in turns) < len(turns):
        return ()
    return (Conversation(name=name, turns=turns),)


def _speakers(lines: Sequence[re.Match[str]]) -> frozenset[str]:
    counts = Counter(line.group(2) for line in lines)
    least = max(2.0, _RECURS * max(counts.values(), default=0))
    speakers = frozenset(name for name, count in counts.items() if count >= least)
    return speakers if len(speakers) > 1 else frozenset()


def _dialogue_turns(text: str, lines: Sequence[re.Match[str]]) -> Iterator[Turn]:
    above, moment = _dated(text[: lines[0].start()].strip())
    ends = [*(line.start() for line in lines[1:]), len(text)]
    for line, end in zip(lines, ends, strict=True):
        words, later = _dated(text[line.end() : end].strip())
        own = parse_loose(line.group(1)) if line.group(1) else None
        if line.group(1) and own is None:
            words = f"[{line.group(1)}] {words}"
        # Text above the first turn that is no date, such as a title, is kept with it.
        yield Turn(author=line.group(2), text=f"{above}\n{words}".strip(), happened_at=own or moment)
        above, moment = "", later or moment


def _dated(text: str) -> tuple[str, datetime | None]:
    """Split a date in brackets from the last line of a text, where it has one."""
    before, _, last = text.rpartition("\n")
    match = _BRACKETED.fullmatch(last)
    moment = parse_loose(match.group(1)) if match else None
    return (text, None) if moment is None else (before.rstrip(), moment)
