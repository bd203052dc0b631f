"""Read items: by key, by namespace and filter, by meaning; and list namespaces. Expired ones are never read.

A read of an item that expires moves its expiry, as long as it is read: at most once in a twentieth of its
time, so that reads seldom write.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from hydramem.core.errors import InvalidInputError
from hydramem.core.ids import item_id
from hydramem.core.inputs import NamespaceCondition
from hydramem.core.results.item_results import ItemNamespace, ItemView
from hydramem.core.row_types import Item
from hydramem.core.time import clock
from hydramem.ingest.items.item_filter import admits
from hydramem.ingest.items.item_index import ItemIndex
from hydramem.ingest.items.item_texts import ITEM_ID
from hydramem.ingest.items.item_values import check_namespace, expiry, scope_of, view_of
from hydramem.ingest.write_target import Target
from hydramem.storage.chunk_filter import ChunkFilter, covers
from hydramem.storage.schema import ITEM
from hydramem.storage.vector_rows import Vector
from hydramem.storage.write import Write

_REFRESHED_FROM = 0.05
"""Share of an item's time that has passed before a read moves its expiry."""
_FIRST_BATCH = 64
_GROWTH = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemSearch:
    """What to search for.

    Attributes:
        namespace: Labels that namespaces begin with; empty for all.
        conditions: As `item_filter.admits` has them.
        vector: Of the query; None lists items, last written first.
    """

    namespace: tuple[str, ...]
    conditions: Mapping[str, Any]
    vector: Vector | None
    limit: int
    offset: int


def get_items(
    namespace: tuple[str, ...], keys: Sequence[str], *, target: Target, refresh: bool
) -> tuple[ItemView, ...]:
    """Return the items of a namespace by key, in the order of the keys; keys without an item are left out.

    Args:
        refresh: Whether the read moves the expiry of items that expire.
    """
    ids = [item_id(target.project, namespace, key) for key in keys]
    found = _live(target.graph.nodes(ITEM, ids), clock())
    return tuple(map(view_of, refreshed(found, target) if refresh else found))


def search_items(
    search: ItemSearch, *, target: Target, index: ItemIndex, refresh: bool
) -> tuple[ItemView, ...]:
    """Return a page of the items that a search finds.

    With a vector, the best text of each item counts; items without a text come last, without a score.
    """
    wanted = search.offset + search.limit
    scores = {} if search.vector is None else _scored(search, search.vector, target, wanted)
    found = list(scores.values())
    if len(found) < wanted:
        for item in _listed(search, target, index):
            if item.id not in scores:
                found.append((item, None))
                if len(found) == wanted:
                    break
    page = found[search.offset : wanted]
    items = [item for item, _ in page]
    now_stored = {item.id: item for item in (refreshed(items, target) if refresh else items)}
    return tuple(view_of(now_stored.get(item.id, item), score) for item, score in page)


def _scored(
    search: ItemSearch, vector: Vector, target: Target, wanted: int
) -> dict[str, tuple[Item, float | None]]:
    """Return the best items by the cosine of their best text, by id; more than wanted are possible."""
    at, limit = clock(), max(_FIRST_BATCH, wanted * _GROWTH)
    scope = scope_of(search.namespace) if search.namespace else None
    where = ChunkFilter(projects=(target.project,), kinds=("passage",), scope=scope, at=at)
    with target.looking() as vectors:
        if vectors is None:
            return {}
        while True:
            near = vectors.nearest(vector, where, limit)
            scores = {one.id: one.score for one in near}
            best: dict[str, float] = {}
            for chunk in target.graph.chunks(list(scores)):
                item = chunk.metadata.get(ITEM_ID)
                if isinstance(item, str) and where.admits(chunk):
                    best[item] = max(scores[chunk.id], best.get(item, -1.0))
            ranked = sorted(best, key=lambda id: (-best[id], id))
            items = _admitted(target.graph.nodes(ITEM, ranked), search, at)
            if len(items) >= wanted or len(near) < limit:
                return {item.id: (item, best[item.id]) for item in items}
            limit *= _GROWTH


def _listed(search: ItemSearch, target: Target, index: ItemIndex) -> Iterator[Item]:
    """Yield the items of a search, last written first; more are read as long as more are taken."""
    at, read, most = clock(), 0, max(_FIRST_BATCH, search.offset + search.limit)
    while True:
        ids = index.newest(target.project, search.namespace, at, most)
        yield from _admitted(target.graph.nodes(ITEM, ids[read:]), search, at)
        if len(ids) < most:
            return
        read, most = len(ids), most * _GROWTH


def _admitted(items: Sequence[Item], search: ItemSearch, at: datetime) -> list[Item]:
    live = _live(items, at)
    if not search.conditions:
        return live
    return [item for item in live if admits(search.conditions, view_of(item).value)]


def _live(items: Sequence[Item], at: datetime) -> list[Item]:
    return [item for item in items if covers(None, item.expires_at, at)]


def refreshed(items: Sequence[Item], target: Target) -> list[Item]:
    """Move the expiry of items that were read, and of their passages; return them as they are now stored."""
    at = clock()
    due = [item.id for item in items if _is_due(item, at)]
    if not due:
        return list(items)
    with target.one_writer:
        # Others may have put or deleted some meanwhile.
        current = [item for item in _live(target.graph.nodes(ITEM, due), at) if _is_due(item, at)]
        rows = {item.id: replace(item, expires_at=expiry(item.ttl, at)) for item in current}
        ends = {id: row.expires_at for row in rows.values() for id in row.chunks}
        chunks = tuple(
            replace(chunk, expires_at=ends[chunk.id])
            for chunk in target.graph.chunks(list(ends))
            if chunk.state in ("active", "quarantined")
        )
        if rows:
            write = Write(
                changes=(), items=tuple(rows.values()), chunks=chunks, refreshed=True, deferred=True
            )
            target.commit(write, {})
    return [rows.get(item.id, item) for item in items]


def _is_due(item: Item, at: datetime) -> bool:
    if item.ttl is None or item.expires_at is None:
        return False
    left = item.expires_at - at
    return left < timedelta(minutes=item.ttl) * (1 - _REFRESHED_FROM)


# Namespaces -------------------------------------------------------------------------------------


def check_conditions(given: Sequence[NamespaceCondition]) -> tuple[NamespaceCondition, ...]:
    """Return conditions on namespaces whose fields are right.

    Raises:
        InvalidInputError: One is not.
    """
    if isinstance(given, NamespaceCondition | str) or not isinstance(given, Sequence):
        raise InvalidInputError("conditions: expected a list of conditions")
    checked = []
    for place, each in enumerate(given):
        if not isinstance(each, NamespaceCondition) or each.match not in ("prefix", "suffix"):
            raise InvalidInputError(f"conditions[{place}]: expected a prefix or suffix with its labels")
        labels = check_namespace(each.labels, name=f"conditions[{place}].labels")
        checked.append(replace(each, labels=labels))
    return tuple(checked)


def list_namespaces(
    conditions: Sequence[NamespaceCondition],
    *,
    max_depth: int | None,
    limit: int,
    offset: int,
    project: str,
    index: ItemIndex,
) -> tuple[ItemNamespace, ...]:
    """Return a page of the namespaces that have live items and meet all conditions, in order.

    Args:
        max_depth: Labels that are returned at most; namespaces that are equal then appear once.
    """
    known = _known_prefix(conditions)
    found = [
        labels
        for labels in index.namespaces(project, known, clock())
        if all(_matches(condition, labels) for condition in conditions)
    ]
    cut = sorted({labels[:max_depth] for labels in found})
    return tuple(ItemNamespace(labels=labels) for labels in cut[offset : offset + limit])


def _known_prefix(conditions: Sequence[NamespaceCondition]) -> tuple[str, ...]:
    """Return the longest labels without `*` that a condition makes namespaces begin with."""
    known: tuple[str, ...] = ()
    for condition in conditions:
        labels = tuple(condition.labels)
        if condition.match == "prefix":
            labels = labels[: labels.index("*")] if "*" in labels else labels
            known = max(known, labels, key=len)
    return known


def _matches(condition: NamespaceCondition, labels: tuple[str, ...]) -> bool:
    length = len(condition.labels)
    if len(labels) < length:
        return False
    part = labels[:length] if condition.match == "prefix" else labels[len(labels) - length :]
    return all(given in ("*", label) for given, label in zip(condition.labels, part, strict=True))
