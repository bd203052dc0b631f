"""Reads a Markdown vault, as Obsidian keeps one: notes as documents, wiki links as relations."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from hydramem.core.results.exchange_results import SkippedRecord
from hydramem.ingest.imports.checked_records import hash_of
from hydramem.ingest.imports.records import (
    DocumentRecord,
    EntityRecord,
    Meter,
    OmittedRecord,
    Record,
    RelationRecord,
)
from hydramem.ingest.imports.vault_files import Note, Titles, links_in, notes_of

_MOST_ALIASES = 20


def read_markdown_vault(path: Path, *, scope: str, meter: Meter) -> Iterator[Record]:
    """Yield each note as a document and an entity of its title, with `links_to` for each wiki link.

    Raises:
        OSError: The folder cannot be read.
    """
    del scope  # documents have none
    notes, skipped = vault(path, meter)
    yield from skipped
    titles = Titles({note.path: note for note in notes})
    for note in notes:
        yield note_entity(note, "note")
        yield from links(note, note.parsed.text, titles)
        yield note_document(note, note.parsed.text, path.name, format="markdown")


def vault(path: Path, meter: Meter) -> tuple[list[Note], list[SkippedRecord]]:
    """Return the notes of a vault, all of them: a link can only be followed where every title is known.

    Raises:
        OSError: The folder cannot be read.
    """
    notes, skipped = list[Note](), list[SkippedRecord]()
    for each in notes_of(path, meter):
        if isinstance(each, Note):
            notes.append(each)
        else:
            skipped.append(each)
    return notes, skipped


def note_entity(note: Note, type: str) -> EntityRecord:
    """Return the entity that a note's title names."""
    given = note.parsed.metadata.get("aliases")
    aliases = [each for each in given if isinstance(each, str)] if isinstance(given, list) else []
    named = (" ".join(each.split()) for each in aliases)
    return EntityRecord(
        place=note.path,
        name=note.title,
        type=type,
        aliases=tuple(dict.fromkeys(each for each in named if each))[:_MOST_ALIASES],
    )


def note_document(note: Note, text: str, vault_name: str, *, format: str) -> Record:
    """Return a note's words as a document whose source is its path in the vault."""
    if not text.strip():
        return OmittedRecord(reason="note without text")
    parsed = replace(
        note.parsed,
        source=f"import:{format}:{vault_name}/{note.path}.md",
        title=note.title,
        text=text,
        content_hash=hash_of(note.title, text, sorted(note.parsed.metadata.items(), key=str)),
    )
    return DocumentRecord(place=note.path, parsed=parsed)


def links(note: Note, text: str, titles: Titles) -> Iterator[RelationRecord]:
    """Yield a relation for each wiki link of a text, but those of a note to itself."""
    targets = dict.fromkeys(titles.of(target) for target in links_in(text))
    for target in targets:
        if target.casefold() != note.title.casefold():
            yield RelationRecord(place=note.path, subject=note.title, type="links_to", object=target)
