"""What the exports of chat programs share: their files, and a conversation as a document of turns."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from hydramem.core.results.exchange_results import SkippedRecord
from hydramem.ingest.documents.formats.transcript import Conversation, Turn
from hydramem.ingest.documents.read import Transcript
from hydramem.ingest.imports.checked_records import hash_of
from hydramem.ingest.imports.export_files import export_files
from hydramem.ingest.imports.json_values import plain_name, read_elements
from hydramem.ingest.imports.records import DocumentRecord, Meter, OmittedRecord, Record

FILES = "conversations*.json"
"""The files of an export that hold conversations; newer exports have several."""

_MOST_ID = 150
_MOST_TITLE = 200
ReadConversation = Callable[[Mapping[str, Any], str], Iterator[Record]]
"""Yields the records of one conversation, given its JSON object and its place."""


def read_conversations(path: Path, read: ReadConversation, meter: Meter) -> Iterator[Record]:
    """Yield the records of every conversation of an export.

    Raises:
        OSError: The path cannot be read.
    """
    found = False
    for each in export_files(path, FILES, meter):
        found = True
        if isinstance(each, SkippedRecord):
            yield each
            continue
        name, file = each
        try:
            for place, value in read_elements(file, name):
                yield from (value,) if isinstance(value, SkippedRecord) else read(value, place)
        except OSError as error:
            yield SkippedRecord(place=name, reason=f"cannot be read on: {error}")
    if not found:
        yield SkippedRecord(place=path.name, reason=f"holds no {FILES}")


def conversation_record(
    turns: Sequence[Turn], *, format: str, id: object, title: object, place: str
) -> Record:
    """Return a conversation as a document; the same one again, with more turns, is its next version.

    Args:
        turns: In order; without any, the conversation is left out.
        format: The program.
        id: Its id there; one without is known by its words.
        title: Its title there.
        place: Where it stands.
    """
    if not turns:
        return OmittedRecord(reason="conversation without words")
    name = plain_name(title)[:_MOST_TITLE]
    key = plain_name(id)[:_MOST_ID] or hash_of(name, turns[0])
    parsed = Transcript(
        source=f"import:{format}:{key}",
        title=name,
        content_hash=hash_of(name, turns),
        conversations=(Conversation(name=f"{format}:{key}", turns=tuple(turns)),),
    )
    return DocumentRecord(place=place, parsed=parsed)
