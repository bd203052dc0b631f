"""Reads an export of Claude: a zip archive, or its `conversations.json`."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from hydramem.core.results.exchange_results import SkippedRecord
from hydramem.ingest.documents.formats.transcript import Turn
from hydramem.ingest.imports.conversations import conversation_record, read_conversations
from hydramem.ingest.imports.json_values import plain_text
from hydramem.ingest.imports.records import Meter, OmittedRecord, Record
from hydramem.text.dates.transcript_times import parse_loose

_AUTHORS = {"human": "user", "assistant": "assistant"}


def read_claude(path: Path, *, scope: str, meter: Meter) -> Iterator[Record]:
    """Yield the conversations of an export, without reasoning and tool calls; sessions have no scope.

    Raises:
        OSError: The path cannot be read.
    """
    del scope
    yield from read_conversations(path, _conversation, meter)


def _conversation(value: Mapping[str, Any], place: str) -> Iterator[Record]:
    messages = value.get("chat_messages")
    if not isinstance(messages, list):
        yield SkippedRecord(place=place, reason="chat_messages: expected a list")
        return
    turns = []
    for number, message in enumerate(messages, 1):
        if not isinstance(message, dict) or (author := _AUTHORS.get(str(message.get("sender")))) is None:
            reason = "expected a message of human or assistant"
            yield SkippedRecord(place=f"{place}, message {number}", reason=reason)
            continue
        attached = sum(
            len(each) for key in ("attachments", "files") if isinstance(each := message.get(key), list)
        )
        if attached:
            yield OmittedRecord(reason="attachment", count=attached)
        if text := _text(message):
            turns.append(Turn(author=author, text=text, happened_at=parse_loose(message.get("created_at"))))
        else:
            yield OmittedRecord(reason="message without text")
    yield conversation_record(
        turns, format="claude", id=value.get("uuid"), title=value.get("name"), place=place
    )


def _text(message: Mapping[str, Any]) -> str:
    """Return the words of a message: its parts of text, without thinking and tools, else its plain text."""
    content = message.get("content")
    parts = [each for each in content if isinstance(each, dict)] if isinstance(content, list) else []
    said = (plain_text(each.get("text")) for each in parts if each.get("type") == "text")
    # The plain text repeats the parts, reasoning included: it counts only where there are none.
    return "\n".join(filter(None, said)) if parts else plain_text(message.get("text"))
