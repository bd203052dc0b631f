"""What one transaction of the graph store writes and removes, and its row of the outbox."""

from dataclasses import dataclass
from datetime import datetime

from hydramem.core.row_types import (
    Change,
    Chunk,
    Document,
    Entity,
    Item,
    Job,
    Link,
    Mention,
    Recalled,
    Relation,
    Session,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Removal:
    """Keys of rows that a write deletes for good, with the edges that end in them; unknown keys are ignored.

    The writer itself clears columns that name a removed row, such as a chunk's `document`.

    Attributes:
        relations, links: By both ends and id.
        mentions: By chunk and entity.
        changes: Audit rows. No image keeps them, so what they record can no longer be undone.
    """

    documents: tuple[str, ...] = ()
    chunks: tuple[str, ...] = ()
    entities: tuple[str, ...] = ()
    sessions: tuple[str, ...] = ()
    jobs: tuple[str, ...] = ()
    items: tuple[str, ...] = ()
    relations: tuple[tuple[str, str, str], ...] = ()
    links: tuple[tuple[str, str, str], ...] = ()
    mentions: tuple[tuple[str, str], ...] = ()
    changes: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return self != _NOTHING


_NOTHING = Removal()


@dataclass(frozen=True, slots=True, kw_only=True)
class Write:
    """What one transaction commits: whole rows, each new or replacing the row of its key, and their audit.

    Rows that others refer to (the ends of an edge, a chunk's document and session) must exist or be in the
    same write; otherwise an `InvalidInputError` is raised and nothing is written. `recalled` rows also update
    their chunk (`recall_count`, `last_recalled_at`); they, their sessions and jobs need no Change. The store
    adds the `image` to the first Change.

    Attributes:
        removed: Deleted before anything is written.
        verbatim: The rows come with their complete audit, as from a dump: no Change is required, existing
            changes and `recalled` rows are kept, no image is made, and `recalled` rows do not update chunks.
        embedded: Ids of stored chunks whose vectors come with this write: their `vector_state` becomes
            `ready`. That is derived and needs no Change; unknown ids are ignored.
        deferred: Replicate to the vector store later: with the next write, or before the next search.
        gathered: For a deferred write: not before a search either, because a search reads every row that it
            finds from the graph. The writer delivers many such writes at once in the end.
        replicated: Ids of outbox rows that the vector store already has; this write deletes them.
        requests: Answers of the requests that this write carries out; they need no Change.
        refreshed: A read moved the expiry of these items and of their chunks, and nothing else: that needs no
            Change, and no undo takes it for a change.
        parts: The writes that this one commits together, in their order (`commit_together`); each has an
            image on its first Change, as if it had been committed by itself. Empty for a plain write.
    """

    changes: tuple[Change, ...]
    documents: tuple[Document, ...] = ()
    chunks: tuple[Chunk, ...] = ()
    entities: tuple[Entity, ...] = ()
    relations: tuple[Relation, ...] = ()
    mentions: tuple[Mention, ...] = ()
    links: tuple[Link, ...] = ()
    sessions: tuple[Session, ...] = ()
    recalled: tuple[Recalled, ...] = ()
    jobs: tuple[Job, ...] = ()
    items: tuple[Item, ...] = ()
    removed: Removal = _NOTHING
    verbatim: bool = False
    embedded: tuple[str, ...] = ()
    deferred: bool = False
    gathered: bool = False
    replicated: tuple[str, ...] = ()
    requests: tuple["RequestRow", ...] = ()
    refreshed: bool = False
    parts: tuple["Write", ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class OutboxRow:
    """Chunks and entities of one write that may not be replicated to the vector store yet."""

    id: str
    chunks: tuple[str, ...]
    entities: tuple[str, ...]
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestRow:
    """The answer of a request that was carried out; the same request again gets it and writes nothing.

    Attributes:
        id: The request's id, as the caller chose it.
        operation: Name of the operation.
        answer: Its result as JSON, as `storage.answers` writes it.
        at: When it was carried out, by the clock.
    """

    id: str
    operation: str
    answer: str
    at: datetime
