"""Find what an erasure removes: the rows asked for and what was made from them; and which others change."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

from hydramem.core.errors import NotFoundError
from hydramem.core.row_types import Change
from hydramem.erase.changed_chunks import changed_chunks
from hydramem.erase.changed_entities import changed_entities
from hydramem.erase.changed_relations import changed_relations
from hydramem.erase.erased_items import items_with
from hydramem.erase.erasure import Erasure, ErasureRequest
from hydramem.erase.made_from import found_with
from hydramem.erase.traces import Traces
from hydramem.ingest.knowledge.support import document_chunks, matching_chunks
from hydramem.storage.changes import ERASE
from hydramem.storage.chunk_filter import ChunkFilter, RowFilter
from hydramem.storage.schema import CHANGE, DOCUMENT, ENTITY, ITEM, RELATES, SESSION, Table
from hydramem.storage.store import GraphStore
from hydramem.storage.write_validation import batches

_IDS = 500


def find(graph: GraphStore, request: ErasureRequest, known: Erasure | None = None) -> Erasure:
    """Return what an erasure concerns in a graph.

    Args:
        graph, request: The store, and what was asked for.
        known: What it concerns in the store itself, where the graph is of a backup: unknown ids are no error.

    Raises:
        NotFoundError: An id is of no chunk, document or entity, or the project holds nothing.
    """
    return (
        _project(graph, request, known) if request.whole_project else _Search(graph, request, known).found()
    )


def _project(graph: GraphStore, request: ErasureRequest, known: Erasure | None) -> Erasure:
    name = request.project
    held = any(view.name == name for view in graph.projects()) or graph.counts(name).changes
    if not held and known is None:
        raise NotFoundError(f"{name!r}: no project of this name holds anything")
    relations = _of_project(graph, RELATES, name, "recorded_at")
    found = Erasure(
        projects=frozenset((name,)),
        documents=frozenset(row.id for row in _of_project(graph, DOCUMENT, name, "recorded_at")),
        chunks=frozenset(row.id for row in matching_chunks(ChunkFilter(projects=(name,), states=()), graph)),
        entities=frozenset(row.id for row in _of_project(graph, ENTITY, name, "first_seen")),
        sessions=frozenset(row.id for row in _of_project(graph, SESSION, name, "started_at")),
        items=frozenset(row.id for row in _of_project(graph, ITEM, name, "created_at")),
        relations=frozenset(map(RELATES.key_of, relations)),
        touched=frozenset((name,)),
        traces=Traces(()),
    )
    return replace(found, traces=Traces(found.ids))


def _of_project(graph: GraphStore, table: Table, project: str, order: str) -> tuple[Any, ...]:
    return graph.select(table, RowFilter(equal={"project": project}), order=(order,))


class _Search:
    """The search for what goes with some ids."""

    def __init__(self, graph: GraphStore, request: ErasureRequest, known: Erasure | None) -> None:
        self._graph = graph
        self._request = request
        ids = tuple(dict.fromkeys((*request.ids, *(() if known is None else sorted(known.ids)))))
        documents, self._named = graph.documents(ids), graph.entities(ids)
        chunks = {row.id: row for row in graph.chunks(ids)}
        for document in documents:
            chunks.update((row.id, row) for row in document_chunks(document.id, graph))
        self._documents = frozenset(row.id for row in documents)
        if known is not None:
            self._named = tuple(row for row in self._named if row.id in request.ids)
        if request.with_mentions:
            mentioned = {row.chunk for row in graph.mentioned([row.id for row in self._named])}
            chunks.update((row.id, row) for row in graph.chunks(sorted(mentioned)))
        self._items = items_with(ids, chunks, graph)
        rows = {*self._documents, *chunks, *(row.id for row in self._named), *self._items}
        self._past = tuple(id for id in request.ids if id not in rows)
        past = self._past_texts(must_exist=known is None)
        self._chunks = found_with(chunks, graph)
        self._old = () if known is None else known.texts
        own = (text for row in self._chunks.values() for text in (row.text, row.summary or ""))
        described = (row.description or "" for row in self._named)
        self._texts = tuple(dict.fromkeys((*own, *described, *past, *self._old)))
        names = (name for row in self._named for name in (row.name, *row.aliases))
        self._names = tuple(dict.fromkeys((*names, *(() if known is None else known.names))))

    def _past_texts(self, *, must_exist: bool) -> list[str]:
        """Return the texts of things that only the audit still has."""
        texts = list[str]()
        for id in self._past:
            changes = self._graph.changes(target=id)
            past = [change for change in changes if change.operation != ERASE]
            if changes and not past and must_exist:
                last = changes[-1]
                raise NotFoundError(f"{id[:80]}: was erased at {last.at:%Y-%m-%d %H:%M} UTC ({last.id})")
            if not past and must_exist:
                raise NotFoundError(f"{id[:80]!r}: no memory, passage, document, entity or item has this id")
            texts += [text for change in past for text in _texts_of(change)]
        return texts

    def found(self) -> Erasure:
        """Return the whole erasure."""
        graph, request, chunks = self._graph, self._request, self._chunks
        asked = [row.id for row in self._named]
        relations, relations_after = changed_relations(
            chunks, asked, graph=graph, traces=Traces((), self._texts, self._names), at=request.at
        )
        orphans, entities_after = changed_entities(chunks, asked, relations, self._texts, graph=graph)
        passages = {row.document for row in chunks.values() if row.document is not None}
        runs = frozenset(self._runs())
        found = Erasure(
            documents=self._documents,
            chunks=frozenset(chunks),
            entities=frozenset((*asked, *(row.id for row in orphans))),
            sessions=self._sessions(),
            items=frozenset(self._items),
            relations=relations,
            chunks_after=changed_chunks(chunks.keys(), runs, graph=graph),
            entities_after=entities_after,
            relations_after=relations_after,
            reread=frozenset(passages - self._documents),
            recalls=frozenset(row.at for row in (graph.recalled(chunks=sorted(chunks)) if chunks else ())),
            linked_in=runs,
            traces=Traces(()),
            texts=self._texts,
            names=self._names,
            other_names=tuple(row.name for row in orphans),
            past=frozenset(self._past),
            touched=frozenset(
                (
                    request.project,
                    *(row.project for row in chunks.values()),
                    *(row.project for row in self._items.values()),
                )
            ),
        )
        found = replace(found, traces=Traces(found.ids, self._texts, self._names))
        return replace(found, remaining=self._remaining(found))

    def _sessions(self) -> frozenset[str]:
        """Return the sessions in which nothing is left."""
        ids = {row.session for row in self._chunks.values() if row.session is not None}
        return frozenset(id for id in ids if not self._has_other_rows(id))

    def _has_other_rows(self, session: str) -> bool:
        where = ChunkFilter(sessions=(session,), states=())
        if any(row.id not in self._chunks for row in matching_chunks(where, self._graph)):
            return True
        return any(row.chunk not in self._chunks for row in self._graph.recalled(sessions=[session]))

    def _runs(self) -> Iterator[str]:
        """Yield the runs that wrote what goes."""
        for ids in batches(sorted(self._chunks), _IDS):
            for change in self._graph.select(CHANGE, RowFilter(one_of={"target": ids}), order=("at",)):
                if change.run is not None:
                    yield change.run

    def _remaining(self, found: Erasure) -> tuple[str, ...]:
        """Return the chunks that stay and share words with an erased one that they are linked to, or name."""
        links = self._graph.links(sorted(found.chunks)) if found.chunks else ()
        linked = {end for link in links for end in (link.source, link.target)} - found.chunks
        same = {row.id for row in self._graph.chunks(sorted(linked)) if found.traces.in_text(row.text)}
        named = self._graph.mentioned([row.id for row in self._named]) if self._named else ()
        return tuple(sorted(same | {row.chunk for row in named if row.chunk not in found.chunks}))


def _texts_of(change: Change) -> Iterable[str]:
    """Yield the words of a row that a Change keeps."""
    for side in (change.before, change.after):
        row = json.loads(side or "null")
        if isinstance(row, dict):
            yield from (str(row[name]) for name in ("text", "summary", "description") if row.get(name))
