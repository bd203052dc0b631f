"""The two storage contracts: the graph store, which is the truth, and the vector store, derived from it.

Three graph stores ship (LadybugDB and Kuzu through `storage.cypher`, and `storage.in_memory`) and two
vector stores (`storage.lance`, `storage.in_memory`). Every one is safe to use from many threads.
"""

from dataclasses import dataclass
from datetime import datetime

from hydramem.core.row_types import (
    Change,
    Chunk,
    Document,
    Entity,
    Job,
    Link,
    Mention,
    Recalled,
    Relation,
    Session,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Removal:
    """Rows that a write takes out for good, each with the edges that end in it; absent ones are no error.

    Columns that name a removed row, such as a chunk's `document`, are the writer's to change.

    Attributes:
        relations, links: By both ends and id.
        mentions: By chunk and entity.
        changes: Of the audit, which no image keeps: what they told cannot be undone any more.
    """

    documents: tuple[str, ...] = ()
    chunks: tuple[str, ...] = ()
    entities: tuple[str, ...] = ()
    sessions: tuple[str, ...] = ()
    jobs: tuple[str, ...] = ()
    relations: tuple[tuple[str, str, str], ...] = ()
    links: tuple[tuple[str, str, str], ...] = ()
    mentions: tuple[tuple[str, str], ...] = ()
    changes: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return self != _NOTHING


_NOTHING = Removal()


@dataclass(frozen=True, slots=True, kw_only=True)
class Write:
    """What one transaction commits: whole rows (new, or in place of the row of the same id) and their audit.

    A relation's ends, a mention's and a link's, a chunk's document and session must exist or be in
    the same write; anything else is an `InvalidInputError` and nothing is written. `recalled` rows also
    count on their chunk (`recall_count`, `last_recalled_at`); they, with their sessions, and jobs need no
    Change. The store itself adds the `image` to the first Change.

    Attributes:
        removed: Taken out before anything is put in.
        verbatim: The rows come from elsewhere with their whole audit, as a dump's do: no Change is asked for,
            changes and `recalled` rows that are there already are left, no image is made, and `recalled`
            rows count nothing.
        embedded: Ids of stored chunks whose vectors come with this write: their `vector_state` becomes
            `ready`. That is derived, and needs no Change; absent ones are no error.
        deferred: The vector store need not hear of it now, but with the next write or before the next search.
        gathered: Of what is deferred: nor before a search, which reads each row that it finds. Who wrote it
            has many such writes delivered at once, and all in the end.
        heard: Rows of the outbox that the vector store has taken: they go with this write.
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
    removed: Removal = _NOTHING
    verbatim: bool = False
    embedded: tuple[str, ...] = ()
    deferred: bool = False
    gathered: bool = False
    heard: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class OutboxRow:
    """Chunks and entities of one write that the vector store may not have heard of yet."""

    id: str
    chunks: tuple[str, ...]
    entities: tuple[str, ...]
    at: datetime
