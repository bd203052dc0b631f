"""What tells how a store stands."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from hydramem.core.results.known import LimitUse
from hydramem.core.types import JobState, Usage


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
