"""What operations on items return."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemView:
    """An item under a namespace and a key.

    Attributes:
        namespace: Labels, outermost first.
        value: The JSON object that was put last.
        created_at: When the key was first put.
        updated_at: When it was put last.
        expires_at: When it expires; None where it does not.
        score: How near it is to a query, by the cosine of its best text, at most 1; None without one.
    """

    id: str
    namespace: tuple[str, ...]
    key: str
    value: Mapping[str, object] = field(default_factory=dict)
    created_at: datetime
    updated_at: datetime
    expires_at: datetime | None = None
    score: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemsPut:
    """What a batch of puts and deletes did.

    Attributes:
        ids: Ids of the items that were put, in their order, each once.
        created: How many of them had not been there.
        deleted: How many items were deleted.
        quarantined: Texts that give orders or hide something: kept in their items, not recalled.
        pending: `vectors` where the vector store could not be written and follows later.
        run: What `undo` takes back; None where nothing was written.
    """

    ids: tuple[str, ...] = ()
    created: int = 0
    deleted: int = 0
    quarantined: int = 0
    pending: tuple[str, ...] = ()
    run: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemNamespace:
    """A namespace that has items, itself or below it.

    Attributes:
        labels: Outermost first.
    """

    labels: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionItems:
    """Items of a session, in their order.

    Attributes:
        session: Name of the session.
        items: JSON texts, as they were appended; the newest is the last.
        run: What `undo` takes back; None where nothing was written.
    """

    session: str
    items: tuple[str, ...] = ()
    run: str | None = None
