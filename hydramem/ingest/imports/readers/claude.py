"""Reads an export of Claude: a zip archive, or its `conversations.json`."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from hydramem.core.results.exchange_results import SkippedRecord
from hydramem.ingest.documents.formats.transcript import Turn
from hydramem.ingest.documents.read import SourceText
from hydramem.ingest.imports.checked_records import hash_of
from hydramem.ingest.imports.json_values import plain_name, plain_text
from hydramem.ingest.imports.readers.conversations import conversation_record, read_conversations
from hydramem.ingest.imports.records import DocumentRecord, Meter, OmittedRecord, Record
from hydramem.text.dates.transcript_times import parse_loose

_MOST_NAME = 150
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
    title = plain_name(value.get("name"))
    for number, message in enumerate(messages, 1):
        if not isinstance(message, dict) or (author := _AUTHORS.get(str(message.get("sender")))) is None:
            reason = "expected a message of human or assistant"
            yield SkippedRecord(place=f"{place}, message {number}", reason=reason)
            continue
        yield from _attachments(message, f"{place}, message {number}", of=value.get("uuid"), title=title)
        if text := _text(message):
            turns.append(Turn(author=author, text=text, happened_at=parse_loose(message.get("created_at"))))
        else:
            yield OmittedRecord(reason="message without text")
    yield conversation_record(
        turns, format="claude", id=value.get("uuid"), title=value.get("name"), place=place
    )


def _attachments(message: Mapping[str, Any], place: str, *, of: object, title: str) -> Iterator[Record]:
    """Yield what is attached to a message: a document where its words were extracted, else counted."""
    listed = {key: each for key in ("attachments", "files") if isinstance(each := message.get(key), list)}
    omitted = len(listed.get("files", ()))
    for number, each in enumerate(listed.get("attachments", ()), 1):
        given: Mapping[str, Any] = each if isinstance(each, dict) else {}
        if not (text := plain_text(given.get("extracted_content"))):
            omitted += 1
            continue
        name = plain_name(given.get("file_name"))[:_MOST_NAME] or f"attachment {number}"
        document = SourceText(
            source=f"import:claude:{plain_name(of)[:_MOST_NAME]}/{name}",
            source_type="text",
            kind="text",
            title=name,
            text=text,
            content_hash=hash_of(name, text),
            happened_at=parse_loose(message.get("created_at")),
            metadata={"conversation": title} if title else {},
        )
        yield DocumentRecord(place=f"{place}, attachment {number}", parsed=document)
    if omitted:
        yield OmittedRecord(reason="attachment", count=omitted)


def _text(message: Mapping[str, Any]) -> str:
    """Return the words of a message: its parts of text, without thinking and tools, else its plain text."""
    content = message.get("content")
    parts = [each for each in content if isinstance(each, dict)] if isinstance(content, list) else []
    said = (plain_text(each.get("text")) for each in parts if each.get("type") == "text")
    # The plain text repeats the parts, reasoning included: it counts only where there are none.
    return "\n".join(filter(None, said)) if parts else plain_text(message.get("text"))
