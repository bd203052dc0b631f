"""What keeping the memory returns: undo, dump and load, backup and restore."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Dumped:
    """A memory as files.

    Attributes:
        folder: Where they are.
        rows: Lines by file.
        bytes: Size of all files together.
        projects: The projects that they hold rows of.
        vectors: Whether the vectors are there.
        signed: Whether the manifest is signed.
    """

    folder: str
    rows: Mapping[str, int]
    bytes: int
    projects: tuple[str, ...]
    vectors: bool
    signed: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Loaded:
    """What loading a dump did.

    Attributes:
        folder: The dump.
        written: Rows that were not there, by file.
        unchanged: Rows that were there and are the same, by file.
        differing: Rows that were there and differ, by file; they were left as they are.
        left: Ids of some of those.
        embedded: Vectors that were made anew.
        notes: What is to be known of it, one sentence each.
    """

    folder: str
    written: Mapping[str, int]
    unchanged: Mapping[str, int]
    differing: Mapping[str, int]
    left: tuple[str, ...] = ()
    embedded: int = 0
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftAlone:
    """A row that undo did not take back.

    Attributes:
        id: Its id; of a mention, those of its chunk and entity.
        what: What it is: document, session, entity, chunk, mention, relation or link.
        why: What was written since, or what hangs on it.
    """

    id: str
    what: str
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Undone:
    """What undo took back.

    Attributes:
        run: The run of this undo itself: undoing that brings everything back.
        of: The run or change that was undone.
        operations: What it had done, by name.
        removed: Rows that it had made, by what they are.
        restored: Rows that it had changed or removed.
        left: What was written since, or is in use by what came since, and stays.
        notes: What else is to be known, a sentence each.
    """

    run: str
    of: str
    operations: tuple[str, ...]
    removed: Mapping[str, int]
    restored: Mapping[str, int]
    left: tuple[LeftAlone, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class BackedUp:
    """A backup that was made, and read again from end to end.

    Attributes:
        file: Where it is.
        bytes: Its size.
        files: How many files it holds.
        removed: Older backups that went, as `garden.backups` says.
    """

    file: str
    made_at: datetime
    bytes: int
    files: int
    removed: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Restored:
    """What restoring a backup did.

    Attributes:
        file: The backup.
        made_at: When it was made: the store is as it was then.
        folder: The store.
        aside: Where what was there before is kept; None where nothing was.
        vectors: Rows whose vectors were made anew.
        notes: What else is to be known, a sentence each.
    """

    file: str
    made_at: datetime
    folder: str
    aside: str | None = None
    vectors: int = 0
    notes: tuple[str, ...] = ()
