"""What importing from other programs, and exporting to other formats, returns."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

ImportFormat = Literal[
    "mcp-memory", "chatgpt", "claude", "mem0", "letta", "claude-mem", "basic-memory", "markdown", "hydramem"
]
"""Formats that `import_memories` reads; `hydramem` is the vault that `export_memories` writes."""

ExportFormat = Literal["markdown", "graphml"]
"""Formats that `export_memories` writes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportCounts:
    """Records by kind; a conversation is one session, and counts by its turns besides."""

    memories: int = 0
    documents: int = 0
    entities: int = 0
    relations: int = 0
    sessions: int = 0
    turns: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class SkippedRecord:
    """A record that was not imported.

    Attributes:
        place: Its file, with its line, number or id.
    """

    place: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Imported:
    """The result of `import_memories`.

    Attributes:
        source: The file or folder.
        format: The format that was read.
        dry_run: Whether nothing was written; `new` then counts what an import would store.
        new: What was stored; a conversation or note that changed since the last import counts as new.
        unchanged: What the project has already, in any state: what was forgotten is not stored again.
        quarantined: Of the new memories and turns, those that give orders or hide something: listed, not
            recalled.
        masked: Number of masked secrets.
        skipped: Broken records and what could not be stored, at most a thousand; `skipped_count` counts all.
        omitted: Number of records that are left out by intention, by reason.
        notes: Notes, a sentence each.
        run: Id of the run, for `undo`; None if nothing was stored.
        pending: Steps that pending jobs do; `vectors` where the vector store could not be written and follows
            later.
    """

    source: str
    format: ImportFormat
    dry_run: bool = False
    new: ImportCounts = field(default_factory=ImportCounts)
    unchanged: ImportCounts = field(default_factory=ImportCounts)
    quarantined: int = 0
    masked: int = 0
    skipped: tuple[SkippedRecord, ...] = ()
    skipped_count: int = 0
    omitted: Mapping[str, int] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    seconds: float = 0.0
    run: str | None = None
    pending: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Exported:
    """The result of `export_memories`.

    Attributes:
        path: The folder or file.
        format: The format that was written.
        memories, entities, relations: How many it holds; relations are on the notes of their subjects.
        removed: Notes of an earlier export that were removed, since what they held is no longer believed.
        kept: Notes of an earlier export that a person edited, and that were not replaced or removed.
    """

    path: str
    format: ExportFormat
    memories: int = 0
    entities: int = 0
    relations: int = 0
    removed: int = 0
    kept: tuple[str, ...] = ()
