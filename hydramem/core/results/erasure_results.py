"""What `erase` returns: a receipt that says what is gone, and holds nothing of it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class FileToEdit:
    """A file that may hold erased words and that only a person changes: its path, and why it is named."""

    path: str
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ErasureReceipt:
    """The result of `erase`. It names ids, counts and files, and holds none of the erased text.

    Attributes:
        id: Id of the audit row that keeps it; empty for a dry run.
        asked: The ids that were given; for a project its name.
        project: The project that it was asked in.
        at: When.
        actor: The surface that asked: `python`, `cli` or `mcp`.
        removed: Rows that are gone, by table.
        changed: Rows that stay without what they held of the erased text, by table.
        rewritten: Files and folders of the store that were written anew, by their place in it.
        deleted: Those that were deleted, because they cannot be written anew.
        to_edit: Files that a person must edit or delete.
        remaining: Ids of memories and passages that stay and state the same or name an erased entity.
        notes: Further notes, a sentence each.
        dry_run: Whether nothing was erased.
    """

    id: str = ""
    asked: tuple[str, ...]
    project: str
    at: datetime
    actor: str
    removed: Mapping[str, int] = field(default_factory=dict)
    changed: Mapping[str, int] = field(default_factory=dict)
    rewritten: tuple[str, ...] = ()
    deleted: tuple[str, ...] = ()
    to_edit: tuple[FileToEdit, ...] = ()
    remaining: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    dry_run: bool = False
