"""LangGraph: a store of items for graphs, and so for LangMem."""

import asyncio
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from langgraph.store.base import (
    BaseStore,
    GetOp,
    Item,
    ListNamespacesOp,
    Op,
    PutOp,
    Result,
    SearchItem,
    SearchOp,
    TTLConfig,
    validate_op_namespace,
)

from hydramem.core.inputs import ItemInput, NamespaceCondition
from hydramem.core.results.item_results import ItemView
from hydramem.hosts.frameworks.given_memory import GivenMemory

if TYPE_CHECKING:
    from hydramem import Memory

_PAGE = 1000
"""Most items, or namespaces, that one call of the memory returns."""
_NO_FILTER_KEY = re.compile(r"['\"`\\\x00-\x1f]|^$")
Address = tuple[tuple[str, ...], str]
"""Namespace and key of an item."""


class HydraMemStore(BaseStore):
    """Keeps the items of a graph in a memory: durable, shared by processes, with history and undo.

    A put of a key that is there keeps its `created_at`. The texts of items are memories in the scope of
    their namespace (`("users", "ada")` is `/users/ada`), which `recall` finds too. The embedder is the
    memory's own. Safe to use from many threads.

    Args:
        memory: What `hydramem.connect` returned, or a folder, which `close` closes again.
        project: Project of the items; that of the memory by default.
        fields: Where the texts are that a query is compared with, unless a put says otherwise by `index`:
            paths such as `text` or `notes[*].text`; `$` is the whole value. None keeps all items out of
            queries, which then list items as if there were no query.
        ttl: When items expire by default, and whether reads keep them, as LangGraph has it.
    """

    supports_ttl = True

    def __init__(
        self,
        memory: "Memory | str | Path",
        *,
        project: str | None = None,
        fields: Sequence[str] | None = ("$",),
        ttl: TTLConfig | None = None,
    ) -> None:
        self._given = GivenMemory(memory, project=project)
        self._memory = self._given.memory
        self._project = project
        self._fields = None if fields is None else tuple(fields)
        self.ttl_config = ttl

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *raised: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the memory if it was opened here."""
        self._given.close()

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """Carry out operations; results are in their order.

        Reads see what was there before; then all puts are made in one transaction, the last one of a key.

        Raises:
            InvalidNamespaceError: A label is empty, or holds a dot or a NUL.
            ValueError: An operation, a filter or a value is wrong; nothing is written.
        """
        given = list(ops)
        for op in given:
            validate_op_namespace(op)
        items = self._got(op for op in given if isinstance(op, GetOp))
        results: list[Result] = []
        puts: dict[Address, PutOp] = {}
        for op in given:
            match op:
                case GetOp():
                    results.append(items.get((op.namespace, op.key)))
                case SearchOp():
                    results.append(self._found(op))
                case ListNamespacesOp():
                    results.append(self._namespaces(op))
                case PutOp():
                    puts[op.namespace, op.key] = op
                    results.append(None)
                case _:
                    raise ValueError(f"Unknown operation type: {type(op)}")
        if puts:
            self._memory.put_items([self._input(op) for op in puts.values()], project=self._project)
        return results

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """Carry out operations in another thread, as `batch` does."""
        return await asyncio.to_thread(self.batch, list(ops))

    def _got(self, ops: Iterable[GetOp]) -> dict[Address, Item]:
        """Read items, with one call for all keys of a namespace."""
        keys: dict[tuple[tuple[str, ...], bool], dict[str, None]] = defaultdict(dict)
        for op in ops:
            keys[op.namespace, op.refresh_ttl][op.key] = None
        return {
            (view.namespace, view.key): _item(view)
            for (namespace, refresh), wanted in keys.items()
            for view in self._memory.get_items(
                namespace, list(wanted), refresh=refresh, project=self._project
            )
        }

    def _found(self, op: SearchOp) -> list[SearchItem]:
        for name in op.filter or ():
            if _NO_FILTER_KEY.search(str(name)):
                raise ValueError(
                    f"Invalid filter key: {name!r}. It must hold no quotes and no control characters."
                )
        found: list[ItemView] = []
        for limit, offset in _pages(op.limit, op.offset):
            page = self._memory.search_items(
                op.namespace_prefix,
                query=(op.query or None) if self._fields is not None else None,
                filter=op.filter,
                limit=limit,
                offset=offset,
                refresh=op.refresh_ttl,
                project=self._project,
            )
            found += page
            if len(page) < limit:
                break
        return [_search_item(view) for view in found]

    def _namespaces(self, op: ListNamespacesOp) -> list[tuple[str, ...]]:
        conditions = [
            NamespaceCondition(match=each.match_type, labels=tuple(map(str, each.path)))
            for each in op.match_conditions or ()
        ]
        found: list[tuple[str, ...]] = []
        for limit, offset in _pages(op.limit, op.offset):
            page = self._memory.list_namespaces(
                conditions=conditions,
                max_depth=op.max_depth,
                limit=limit,
                offset=offset,
                project=self._project,
            )
            found += (each.labels for each in page)
            if len(page) < limit:
                break
        return found

    def _input(self, op: PutOp) -> ItemInput:
        fields: Sequence[str] = self._fields or ()
        if op.index is not None and self._fields is not None:
            fields = op.index or ()
        value: Mapping[str, object] | None = op.value
        return ItemInput(
            namespace=op.namespace, key=str(op.key), value=value, search_paths=fields, ttl=op.ttl
        )


def _pages(limit: int, offset: int) -> Iterator[tuple[int, int]]:
    """Cut a page into pages that one call returns."""
    for start in range(offset, offset + limit, _PAGE):
        yield min(_PAGE, offset + limit - start), start


def _fields_of(view: ItemView) -> dict[str, Any]:
    return {
        "namespace": view.namespace,
        "key": view.key,
        "value": dict(view.value),
        "created_at": view.created_at,
        "updated_at": view.updated_at,
    }


def _item(view: ItemView) -> Item:
    return Item(**_fields_of(view))


def _search_item(view: ItemView) -> SearchItem:
    return SearchItem(**_fields_of(view), score=view.score)
