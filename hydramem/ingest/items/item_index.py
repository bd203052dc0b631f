"""Where the items of a store are: ids by namespace and by session, in memory, derived from the graph store.

Namespaces are a tree of labels (a trie), so that a prefix is found by its labels and not by a scan of all
items. The index is read from the store when it is first used, and follows every commit from then on.
"""

import threading
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from heapq import merge
from itertools import islice

from hydramem.core.project_bounds import unbounded
from hydramem.core.row_types import Item
from hydramem.storage.store import GraphStore, ItemPlace
from hydramem.storage.write import Write

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
Placed = tuple[int, datetime | None]
"""What items of one holder are ordered by, and when the item expires."""


@dataclass(slots=True, eq=False)
class _Holder:
    """The ids of one namespace or session, least recent first; a namespace has further ones below it."""

    above: "_Holder | None" = None
    label: str = ""
    below: dict[str, "_Holder"] = field(default_factory=dict)
    ids: dict[str, Placed] = field(default_factory=dict)
    _last: int = 0
    _in_order: bool = True

    def put(self, id: str, order: int, expires_at: datetime | None) -> None:
        """Add an item, or move it to its new place."""
        known = self.ids.get(id)
        if known is None or known[0] != order:
            self.ids.pop(id, None)
            self._in_order = self._in_order and order >= self._last
            self._last = max(self._last, order)
        self.ids[id] = (order, expires_at)

    def newest(self, at: datetime) -> Iterator[tuple[int, str]]:
        """Yield the live items as order and id, the greatest order first."""
        if not self._in_order:
            self.ids = dict(sorted(self.ids.items(), key=lambda each: each[1][0]))
            self._in_order = True
        return (
            (order, id)
            for id, (order, expires_at) in reversed(self.ids.items())
            if expires_at is None or at < expires_at
        )

    def is_live(self, at: datetime) -> bool:
        """Say whether an item of this holder itself has not expired."""
        return any(end is None or at < end for _, end in self.ids.values())

    def within(self, labels: tuple[str, ...]) -> "Iterator[tuple[tuple[str, ...], _Holder]]":
        """Yield this namespace and all below it that hold items, with their labels."""
        if self.ids:
            yield labels, self
        for label, holder in self.below.items():
            yield from holder.within((*labels, label))


class ItemIndex:
    """The index of one open store. Safe to use from many threads.

    Args:
        graph: Where the items are.
    """

    def __init__(self, graph: GraphStore) -> None:
        self._graph = graph
        self._lock = threading.Lock()
        self._loaded = False
        self._forget()

    @property
    def is_loaded(self) -> bool:
        """Whether the index is in memory, or is being loaded."""
        with self._lock:
            return self._loaded

    def apply(self, write: Write) -> None:
        """Follow a write that was committed; writes come in their order."""
        if not (write.items or write.removed.items):
            return
        with self._lock:
            if self._loaded:
                for id in write.removed.items:
                    self._remove(id)
                for item in write.items:
                    self._put(item)

    def forget(self) -> None:
        """Read the index again when it is next used: what a write did is unknown."""
        with self._lock:
            self._loaded = False
            self._forget()

    def newest(self, project: str, namespace: tuple[str, ...], at: datetime, most: int) -> list[str]:
        """Return the ids of live items of a namespace and of those below it, last written first.

        Args:
            at: The moment at which they must not have expired.
            most: How many at most.
        """
        with self._lock:
            parts = [holder.newest(at) for _, holder in self._within(project, namespace)]
            found = parts[0] if len(parts) == 1 else merge(*parts, reverse=True)
            return [id for _, id in islice(found, most)]

    def namespaces(self, project: str, prefix: tuple[str, ...], at: datetime) -> list[tuple[str, ...]]:
        """Return the namespaces at or below a prefix that have live items, in order."""
        with self._lock:
            return sorted(labels for labels, holder in self._within(project, prefix) if holder.is_live(at))

    def session(self, project: str, session: str, most: int | None = None) -> list[str]:
        """Return the ids of items of a session, the newest first; all where `most` is None."""
        with self._lock:
            self._load()
            holder = self._sessions.get((project, session))
            return [] if holder is None else [id for _, id in islice(holder.newest(_EPOCH), most)]

    def expired(self, at: datetime) -> list[str]:
        """Return the ids of the items that have expired."""
        with self._lock:
            self._load()
            placed = ((id, holder.ids[id][1]) for id, holder in self._holders.items())
            return [id for id, end in placed if end is not None and end <= at]

    def _within(self, project: str, prefix: tuple[str, ...]) -> Iterable[tuple[tuple[str, ...], _Holder]]:
        self._load()
        holder = self._projects.get(project)
        for label in prefix:
            holder = None if holder is None else holder.below.get(label)
        return () if holder is None else holder.within(prefix)

    def _load(self) -> None:
        if self._loaded:
            return
        with unbounded():  # the index is the store's, whatever the call that needs it first may see
            places = sorted(self._graph.item_places(), key=lambda place: (place.updated_at, place.id))
        for place in places:
            self._put(place)
        self._loaded = True

    def _put(self, item: Item | ItemPlace) -> None:
        held = self._holders.get(item.id)
        if item.session is None:
            order = (item.updated_at - _EPOCH) // _MICROSECOND
            holder = held or self._namespace(item.project, item.namespace)
        else:
            order = item.position
            holder = held or self._sessions.setdefault((item.project, item.session), _Holder())
        holder.put(item.id, order, item.expires_at)
        self._holders[item.id] = holder

    def _namespace(self, project: str, labels: tuple[str, ...]) -> _Holder:
        holder = self._projects.setdefault(project, _Holder())
        for label in labels:
            if label not in holder.below:
                holder.below[label] = _Holder(above=holder, label=label)
            holder = holder.below[label]
        return holder

    def _remove(self, id: str) -> None:
        holder = self._holders.pop(id, None)
        if holder is None:
            return
        del holder.ids[id]
        while holder.above is not None and not (holder.ids or holder.below):
            del holder.above.below[holder.label]
            holder = holder.above

    def _forget(self) -> None:
        self._projects: dict[str, _Holder] = {}
        self._sessions: dict[tuple[str, str], _Holder] = {}
        self._holders: dict[str, _Holder] = {}
