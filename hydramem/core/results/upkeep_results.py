"""What operations on the store return: undo, dump, load, backup, restore, stats, jobs and repair."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from hydramem.core.results.knowledge_results import LimitUse
from hydramem.core.results.telemetry_results import TelemetryReport
from hydramem.core.row_types import JobState, Usage


@dataclass(frozen=True, slots=True, kw_only=True)
class Dumped:
    """The result of `dump`.

    Attributes:
        folder: Folder of the dump.
        rows: Lines by file.
        bytes: Size of all files.
        projects: Projects with rows in the dump.
        vectors: Whether it holds the vectors.
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
    """The result of `load`.

    Attributes:
        folder: Folder of the dump.
        written: New rows by file.
        unchanged: Equal rows in the store, by file.
        differing: Rows of the store that differ and were not changed, by file.
        left: Ids of some of those.
        embedded: Vectors that were computed.
        notes: Notes, a sentence each.
        pending: `vectors` where the vector store could not be written and follows later; else nothing.
    """

    folder: str
    written: Mapping[str, int]
    unchanged: Mapping[str, int]
    differing: Mapping[str, int]
    left: tuple[str, ...] = ()
    embedded: int = 0
    notes: tuple[str, ...] = ()
    pending: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftAlone:
    """A row that undo left as it is.

    Attributes:
        id: Its id; for a mention, the ids of chunk and entity.
        what: document, session, entity, chunk, mention, relation or link.
        why: What was written since, or what depends on it.
    """

    id: str
    what: str
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Undone:
    """The result of `undo`.

    Attributes:
        run: Id of this run; undoing it restores everything.
        of: The run or change that was undone.
        operations: Its operations by name.
        removed: Rows that it had created, by table.
        restored: Rows that it had changed or removed, by table.
        left: Rows that stay, since they changed or newer rows depend on them.
        notes: Further notes, a sentence each.
        pending: `vectors` where the vector store could not be written and follows later; else nothing.
    """

    run: str
    of: str
    operations: tuple[str, ...]
    removed: Mapping[str, int]
    restored: Mapping[str, int]
    left: tuple[LeftAlone, ...] = ()
    notes: tuple[str, ...] = ()
    pending: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOfChanges:
    """What one call changed: a line of the audit.

    Attributes:
        run: Id that `undo` takes.
        at: When its last change was made.
        actors, operations, projects: Who made the changes, by which operations, in which projects.
        changes: How many rows it wrote.
        about: The text or name in its first change, at most 80 characters.
        reason: Why, where its first change says so.
        undone: Whether it was undone, and the undo was not undone.
    """

    run: str
    at: datetime
    actors: tuple[str, ...]
    operations: tuple[str, ...]
    projects: tuple[str, ...]
    changes: int
    about: str
    reason: str | None = None
    undone: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class BackedUp:
    """A backup, after it was read back completely.

    Attributes:
        file: Its path.
        bytes: Its size.
        files: Number of files in it.
        removed: Older backups that were removed, as `garden.backups` says.
    """

    file: str
    made_at: datetime
    bytes: int
    files: int
    removed: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Restored:
    """The result of `restore`.

    Attributes:
        file: The backup.
        made_at: When it was made.
        folder: Folder of the store.
        aside: Where the content before is kept; None if there was none.
        vectors: Rows whose vectors were computed.
        notes: Further notes, a sentence each.
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
    """Rows by table, in a project or in the whole store."""

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
    """What the store holds, and where.

    Attributes:
        pending: Rows that are not yet replicated to the vector store.
        disk_bytes: Bytes of the store's files and folders, by name; other files of its folder do not count.
        jobs: Jobs by state: pending and given up.
        expired: Active memories that have expired and are not recalled.
        limits: The usage of each configured limit.
        telemetry: What telemetry recorded in the last days, where `days` was given.
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
    telemetry: TelemetryReport | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Drained:
    """The result of `drain`.

    Attributes:
        done: Jobs done.
        failed: Jobs given up after several attempts; `retry` runs them again.
        left: Jobs still pending: over the timeout, or to be tried again later.
        usage: Cost of the model calls in the jobs.
    """

    done: int = 0
    failed: int = 0
    left: int = 0
    usage: Usage = field(default_factory=Usage)


@dataclass(frozen=True, slots=True, kw_only=True)
class Diagnosis:
    """Whether the graph and the vectors agree, and whether their rows are whole.

    Attributes:
        entities_in_vectors: Of the entities, the vectors hold those that several chunks mention.
        missing: Rows that the vectors lack.
        stale: Rows that the vectors hold in another version.
        orphaned: Rows that only the vectors hold.
        lost: Those of them that the graph should have and lacks.
        damaged: Chunks and documents whose words do not fit their id, or that no id can tell to be right.
        pending: Outbox rows to be delivered.
        repaired: Rows rebuilt by this call.
        lost_file: File of JSON lines with the lost rows, where it was written.
        problems: A sentence each; empty if there are none.
        unfinished_reindex: Fingerprint of the target of an interrupted reindex; the old vectors stay in use.
        warnings: What harms no row but should be known, a sentence each.
        telemetry: Whether calls are recorded: `on`, or `off: ` and why.
    """

    healthy: bool
    chunks_in_graph: int
    chunks_in_vectors: int
    entities_in_graph: int
    entities_in_vectors: int
    missing: int = 0
    stale: int = 0
    orphaned: int = 0
    lost: int = 0
    damaged: int = 0
    pending: int = 0
    repaired: int = 0
    lost_file: str | None = None
    problems: tuple[str, ...] = ()
    unfinished_reindex: str | None = None
    warnings: tuple[str, ...] = ()
    telemetry: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reindexed:
    """The result of `reindex`.

    Attributes:
        before, after: Fingerprints of the old and the new embedder.
        changed: False if the store had that embedder already.
        chunks, entities: Rows of the vectors.
        made: Rows computed by this call.
        resumed: Rows that an interrupted call had computed.
        notes: What is left to do, a sentence each.
    """

    before: str
    after: str
    changed: bool
    chunks: int
    entities: int
    made: int = 0
    resumed: int = 0
    notes: tuple[str, ...] = ()
