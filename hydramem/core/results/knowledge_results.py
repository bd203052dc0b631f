"""What operations on entities, scopes, layers and limits return."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from hydramem.core.row_types import Entity, Layer


@dataclass(frozen=True, slots=True, kw_only=True)
class EntityChange:
    """What entity did.

    Attributes:
        entity: As it is now.
        created: Whether it is new.
        changed: What else changed: name, type, aliases, description; empty where all of it was known.
    """

    entity: Entity
    created: bool
    changed: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Merged:
    """What merge did.

    Attributes:
        entity: The one that is kept, as it is now.
        merged: Names of those that it stands for from now on.
        mentions: Chunks that spoke of those and not of it.
        relations: Relations that have another end now.
        united: How many of them were there already, and gained evidence.
        dropped: Relations between what is one thing now, in words; they are kept in the history.
        run: By which `split` or `undo` takes it back.
    """

    entity: Entity
    merged: tuple[str, ...]
    mentions: int = 0
    relations: int = 0
    united: int = 0
    dropped: tuple[str, ...] = ()
    run: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Divided:
    """What split did.

    Attributes:
        entities: Those that are things of their own again, or the one that was made.
        kept: The one that they were part of, as it is now.
        mentions: Chunks that speak of those now.
        relations: Relations that are theirs now.
        left: Ids of chunks and relations written since the merge, and of relations whose other end is gone:
            they stay with the one that was kept.
        run: By which `undo` takes it back.
    """

    entities: tuple[Entity, ...]
    kept: Entity
    mentions: int = 0
    relations: int = 0
    left: tuple[str, ...] = ()
    run: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Promoted:
    """What promote did.

    Attributes:
        chunks, relations: Ids of what is in the layer now and was in another.
        unchanged: Ids of what was in it already.
    """

    layer: Layer
    chunks: tuple[str, ...] = ()
    relations: tuple[str, ...] = ()
    unchanged: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ScopeCount:
    """Active memories of one scope that have the same categories.

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
    """A scope and what is filed at or under it.

    Attributes:
        memories: Active memories at or under it.
        own: Those exactly at it.
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
    """What move did.

    Attributes:
        source, destination: The scope that was, and the one that is.
        chunks: How many memories moved, of every state.
        active: How many of them are active.
        scopes: The scopes that they are in now.
    """

    source: str
    destination: str
    chunks: int = 0
    active: int = 0
    scopes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Cutoffs:
    """Moments before which rows are past their time; None does not look.

    Attributes:
        at: The moment at which memories may have expired.
    """

    at: datetime
    archived: datetime | None = None
    changes: datetime | None = None
    sessions: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Past:
    """How many rows are past their time.

    Attributes:
        expired: Active memories that are not recalled any more.
        archived: Documents, chunks and relations that went to the archive before the cutoff.
        changes: Changes of runs that ended before the cutoff.
        sessions: Sessions that hold nothing and were last active before the cutoff.
    """

    expired: int = 0
    archived: int = 0
    changes: int = 0
    sessions: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class LimitUsage:
    """What limits look at: memories and bytes of documents' text by project, and rows past their time."""

    memories: Mapping[str, int] = field(default_factory=dict)
    document_bytes: Mapping[str, int] = field(default_factory=dict)
    past: Past = field(default_factory=Past)


@dataclass(frozen=True, slots=True, kw_only=True)
class LimitUse:
    """How a configured limit stands.

    Attributes:
        limit: Its key in `limits`.
        project: Whose; None where it is of the whole store.
        used: Memories or megabytes; of a number of days, the rows that are older.
        allowed: What is configured: a count, megabytes or days.
        over: Whether there is more than allowed; the gardener takes it back.
    """

    limit: str
    project: str | None = None
    used: float
    allowed: int
    over: bool
