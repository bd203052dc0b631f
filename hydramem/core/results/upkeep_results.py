"""What keeping the memory returns: undo, dump and load, backup and restore."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from hydramem.core.results.knowledge_results import LimitUse
from hydramem.core.row_types import JobState, Usage


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


@dataclass(frozen=True, slots=True, kw_only=True)
class ProjectView:
    """A project and what it holds."""

    name: str
    documents: int
    chunks: int
    memories: int
    entities: int
    relations: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Counts:
    """Rows by table, within a project or in all."""

    documents: int = 0
    chunks: int = 0
    memories: int = 0
    entities: int = 0
    relations: int = 0
    mentions: int = 0
    links: int = 0
    sessions: int = 0
    changes: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Stats:
    """What the store holds and where.

    Attributes:
        pending: Rows that the vectors have still to hear of.
        jobs: Durable jobs by state: those that wait, and those that were given up.
        expired: Active memories that are not recalled any more, since their time has passed.
        limits: How each configured limit stands.
    """

    path: str
    engine: str
    schema_version: int
    embedder: str
    dimension: int
    generator: str | None
    counts: Counts
    projects: tuple[ProjectView, ...]
    pending: int
    disk_bytes: Mapping[str, int]
    jobs: Mapping[JobState, int] = field(default_factory=dict)
    expired: int = 0
    limits: tuple[LimitUse, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Drained:
    """How the durable jobs stand after a drain.

    Attributes:
        done: Jobs done meanwhile.
        failed: Jobs given up meanwhile, after several attempts; `drain` with `retry` tries them again.
        left: Jobs that still wait: over the time given, or to be tried once more later.
        usage: What language models cost in the jobs done meanwhile.
    """

    done: int = 0
    failed: int = 0
    left: int = 0
    usage: Usage = field(default_factory=Usage)


@dataclass(frozen=True, slots=True, kw_only=True)
class Diagnosis:
    """Whether the two stores agree.

    Attributes:
        missing: Rows that the vectors lack.
        stale: Rows that the vectors hold in another version.
        orphaned: Rows that only the vectors hold.
        pending: Outbox rows still to be delivered.
        repaired: Rows rebuilt by this call.
        problems: One sentence each; empty where all is well.
        unfinished_reindex: Fingerprint that an interrupted reindex moves to; the old vectors serve meanwhile.
    """

    healthy: bool
    chunks_in_graph: int
    chunks_in_vectors: int
    entities_in_graph: int
    entities_in_vectors: int
    missing: int = 0
    stale: int = 0
    orphaned: int = 0
    pending: int = 0
    repaired: int = 0
    problems: tuple[str, ...] = ()
    unfinished_reindex: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Reindexed:
    """What a reindex did.

    Attributes:
        before, after: Fingerprints of the embedder before and after.
        changed: False where the store had that embedder already, and nothing was done.
        chunks, entities: Rows that the vectors hold.
        made: Rows made by this call.
        resumed: Rows that an interrupted call had made.
        notes: What is left to do, one sentence each.
    """

    before: str
    after: str
    changed: bool
    chunks: int
    entities: int
    made: int = 0
    resumed: int = 0
    notes: tuple[str, ...] = ()
