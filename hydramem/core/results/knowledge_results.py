"""What operations on entities, scopes, layers and limits return."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from hydramem.core.row_types import Entity, Layer


@dataclass(frozen=True, slots=True, kw_only=True)
class EntityChange:
    """The result of `entity`.

    Attributes:
        entity: The entity as it is now.
        created: Whether it is new.
        changed: The fields that changed: name, type, aliases, description.
        pending: `vectors` where the vector store could not be written and follows later; else nothing.
    """

    entity: Entity
    created: bool
    changed: tuple[str, ...] = ()
    pending: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Merged:
    """The result of `merge`.

    Attributes:
        entity: The kept entity as it is now.
        merged: Names of the entities that were merged into it.
        mentions: Chunks that mentioned only those.
        relations: Relations with a new end.
        united: How many of them existed already and gained evidence.
        dropped: Relations among the merged entities, in words; the history keeps them.
        run: Id of the run, for `split` or `undo`.
        pending: `vectors` where the vector store could not be written and follows later; else nothing.
    """

    entity: Entity
    merged: tuple[str, ...]
    mentions: int = 0
    relations: int = 0
    united: int = 0
    dropped: tuple[str, ...] = ()
    run: str | None = None
    pending: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Divided:
    """The result of `split`.

    Attributes:
        entities: The entities that are separate again, or the new one.
        kept: The entity that they were part of, as it is now.
        mentions: Chunks that mention them now.
        relations: Relations that are theirs now.
        left: Ids of chunks and relations that stay with the kept entity: written since the merge, or without
            their other end.
        run: Id of the run, for `undo`.
        pending: `vectors` where the vector store could not be written and follows later; else nothing.
    """

    entities: tuple[Entity, ...]
    kept: Entity
    mentions: int = 0
    relations: int = 0
    left: tuple[str, ...] = ()
    run: str | None = None
    pending: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Promoted:
    """The result of `promote`.

    Attributes:
        chunks, relations: Ids of what was moved to the layer.
        unchanged: Ids of what was in it already.
        pending: `vectors` where the vector store could not be written and follows later; else nothing.
    """

    layer: Layer
    chunks: tuple[str, ...] = ()
    relations: tuple[str, ...] = ()
    unchanged: tuple[str, ...] = ()
    pending: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Relabeled:
    """The result of `relabel`.

    Attributes:
        chunks: Ids of the memories that changed.
        unchanged: Ids of those that had these labels already.
        run: Id of the run, for `undo`; None if nothing changed.
        pending: `vectors` where the vector store could not be written and follows later; else nothing.
    """

    chunks: tuple[str, ...] = ()
    unchanged: tuple[str, ...] = ()
    run: str | None = None
    pending: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ScopeCount:
    """Active memories of one scope with the same categories.

    Attributes:
        oldest, newest: When the first and the last of them were recorded.
    """

    scope: str
    categories: tuple[str, ...]
    memories: int
    oldest: datetime
    newest: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class ScopeView:
    """A scope and the memories at or under it.

    Attributes:
        memories: Active memories at or under it.
        own: Active memories exactly at it.
        oldest, newest: When the first and the last of them were recorded.
        categories: Labels of all of them, the most frequent first.
    """

    path: str
    memories: int
    own: int
    oldest: datetime
    newest: datetime
    categories: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Moved:
    """The result of `move`.

    Attributes:
        source, destination: The old scope and the new one.
        chunks: Number of memories moved, in any state.
        active: How many of them are active.
        scopes: The scopes that they are in now.
        pending: `vectors` where the vector store could not be written and follows later; else nothing.
    """

    source: str
    destination: str
    chunks: int = 0
    active: int = 0
    scopes: tuple[str, ...] = ()
    pending: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Cutoffs:
    """Times before which rows are too old; None does not look.

    Attributes:
        at: Time at which memories may have expired.
    """

    at: datetime
    archived: datetime | None = None
    changes: datetime | None = None
    sessions: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Past:
    """How many rows are too old.

    Attributes:
        expired: Active memories that have expired.
        archived: Documents, chunks and relations archived before the cutoff.
        changes: Changes of runs that ended before the cutoff.
        sessions: Empty sessions that were last active before the cutoff.
    """

    expired: int = 0
    archived: int = 0
    changes: int = 0
    sessions: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class LimitUsage:
    """What the limits apply to: memories and bytes of documents by project, and rows that are too old."""

    memories: Mapping[str, int] = field(default_factory=dict)
    document_bytes: Mapping[str, int] = field(default_factory=dict)
    past: Past = field(default_factory=Past)


@dataclass(frozen=True, slots=True, kw_only=True)
class LimitUse:
    """The usage of a configured limit.

    Attributes:
        limit: Its key in `limits`.
        project: Its project; None for the whole store.
        used: Memories, megabytes, or rows older than the days.
        allowed: The configured count, megabytes or days.
        over: Whether more is used than allowed; the gardener corrects it.
    """

    limit: str
    project: str | None = None
    used: float
    allowed: int
    over: bool
