"""Find what an erasure removes: the rows asked for and what was made from them; and which others change."""

import json
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from typing import Any

from hydramem.core.errors import NotFoundError
from hydramem.core.row_types import Change, Chunk, Entity, Relation
from hydramem.erase.erasure import Erasure, ErasureRequest
from hydramem.erase.made_from import found_with
from hydramem.erase.traces import Traces
from hydramem.ingest.knowledge.end_validity import DISTILLED_FROM, VERSION_OF
from hydramem.ingest.knowledge.support import (
    document_chunks,
    in_state,
    lowered,
    matching_chunks,
    relations_on,
    unsupported,
)
from hydramem.storage.changes import ERASE
from hydramem.storage.chunk_filter import ChunkFilter, RowFilter
from hydramem.storage.schema import CHANGE, DOCUMENT, ENTITY, RELATES, SESSION, Table
from hydramem.storage.store import GraphStore
from hydramem.storage.write_validation import batches
from hydramem.text.normalize import entity_key, folded

_IDS = 500
_MOST_READ = 200
_Key = tuple[str, str, str]


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
        rows = {*self._documents, *chunks, *(row.id for row in self._named)}
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
                raise NotFoundError(f"{id[:80]!r}: no memory, passage, document or entity has this id")
            texts += [text for change in past for text in _texts_of(change)]
        return texts

    def found(self) -> Erasure:
        """Return the whole erasure."""
        graph, chunks = self._graph, sorted(self._chunks)
        traces = Traces((), self._texts, self._names)
        relations, changed = self._relations(chunks, traces)
        orphans, entities = self._entities(chunks, relations, traces)
        passages = {row.document for row in self._chunks.values() if row.document is not None}
        changes = self._changes_of(chunks)
        found = Erasure(
            documents=self._documents,
            chunks=frozenset(chunks),
            entities=frozenset(row.id for row in (*self._named, *orphans)),
            sessions=self._sessions(),
            relations=frozenset(relations),
            entities_after=entities,
            relations_after=changed,
            reread=frozenset(passages - self._documents),
            recalls=frozenset(row.at for row in (graph.recalled(chunks=chunks) if chunks else ())),
            linked_in=frozenset(change.run for change in changes if change.run is not None),
            traces=traces,
            texts=self._texts,
            names=self._names,
            other_names=tuple(row.name for row in orphans),
            past=frozenset(self._past),
            touched=frozenset((self._request.project, *(row.project for row in self._chunks.values()))),
        )
        found = replace(found, traces=Traces(found.ids, self._texts, self._names))
        return replace(found, chunks_after=self._chunks_after(found), remaining=self._remaining(found))

    def _relations(
        self, chunks: Sequence[str], traces: Traces
    ) -> tuple[dict[_Key, Relation], dict[_Key, Relation]]:
        """Return the relations that go, and those that only change."""
        graph, gone = self._graph, set(chunks)
        ends = {row.id for row in self._named}
        rows = {
            RELATES.key_of(row): row for row in (*relations_on(chunks, graph), *graph.relations(sorted(ends)))
        }
        removed = {
            key: row
            for key, row in rows.items()
            if not ends.isdisjoint(key[:2]) or (row.evidence and gone.issuperset(row.evidence))
        }
        ids = {id for _, _, id in removed}
        removed |= {key: row for key, row in rows.items() if row.metadata.get(VERSION_OF) in ids}
        fallen = {row.id for _, row in lowered(chunks, graph)}
        bare = {row.id for row in unsupported(chunks, graph)}
        changed = dict[_Key, Relation]()
        for key, row in rows.items():
            if key in removed or gone.isdisjoint(row.evidence):
                continue
            after = replace(
                row,
                evidence=tuple(id for id in row.evidence if id not in gone),
                layer="working" if row.id in fallen else row.layer,
            )
            if row.quote and traces.in_text(row.quote) and not self._is_stated(row.quote, after.evidence):
                after = replace(after, quote=None)
            # As forgetting does: no active chunk states it any more.
            lost = row.id in bare and any(self._is_active(id) for id in row.evidence)
            changed[key] = in_state(after, "archived", self._request.at) if lost else after
        return removed, changed

    def _is_active(self, chunk: str) -> bool:
        return chunk in self._chunks and self._chunks[chunk].state == "active"

    def _is_stated(self, quote: str, chunks: Sequence[str]) -> bool:
        return any(folded(quote) in folded(row.text) for row in self._graph.chunks(chunks))

    def _entities(
        self, chunks: Sequence[str], relations: Collection[_Key], traces: Traces
    ) -> tuple[list[Entity], dict[str, Entity]]:
        """Return the entities that nothing names any more, and those whose rows change."""
        graph, asked = self._graph, {row.id for row in self._named}
        mentions = graph.mentions(chunks)
        ids = sorted({row.entity for row in mentions} - asked)
        touched = {id for key in relations for id in key[:2]} - asked
        active = Counter(row.entity for row in mentions if self._chunks[row.chunk].state == "active")
        told = self._told(sorted(touched.union(ids)))
        left = {
            row.entity: row.chunk
            for row in graph.mentioned(sorted(touched.union(ids)))
            if row.chunk not in self._chunks
        }
        held = {
            end
            for row in graph.relations(sorted(touched.union(ids)))
            if RELATES.key_of(row) not in relations
            for end in (row.subject, row.object)
        }
        orphans, after = list[Entity](), dict[str, Entity]()
        for row in graph.entities(sorted(touched.union(ids))):
            if row.id not in told and row.id not in left and row.id not in held:
                orphans.append(row)
            elif row.id in set(ids):
                described = row.description if row.id in told else None
                new = replace(
                    row,
                    mention_count=max(0, row.mention_count - active[row.id]),
                    description=described,
                    aliases=row.aliases if row.id in told else self._aliases(row),
                )
                if new != row:
                    after[row.id] = new
        return orphans, after

    def _told(self, entities: Sequence[str]) -> set[str]:
        """Return the entities that a person described, renamed or merged."""
        found = set[str]()
        for ids in batches(entities, _IDS):
            where = RowFilter(one_of={"target": ids, "operation": ("entity", "merge", "split", "review")})
            found.update(change.target for change in self._graph.select(CHANGE, where, order=("at",)))
        return found

    def _aliases(self, row: Entity) -> tuple[str, ...]:
        """Return the aliases of an entity that the erased text does not have, or others have too."""
        suspect = [name for name in row.aliases if any(_names(text, name) for text in self._texts)]
        if not suspect:
            return row.aliases
        others = [each.chunk for each in self._graph.mentioned([row.id]) if each.chunk not in self._chunks]
        texts = [chunk.text for chunk in self._graph.chunks(others[:_MOST_READ])]
        gone = {name for name in suspect if not any(_names(text, name) for text in texts)}
        return tuple(name for name in row.aliases if name not in gone)

    def _sessions(self) -> frozenset[str]:
        """Return the sessions in which nothing is left."""
        ids = {row.session for row in self._chunks.values() if row.session is not None}
        return frozenset(id for id in ids if not self._has_other_rows(id))

    def _has_other_rows(self, session: str) -> bool:
        where = ChunkFilter(sessions=(session,), states=())
        if any(row.id not in self._chunks for row in matching_chunks(where, self._graph)):
            return True
        return any(row.chunk not in self._chunks for row in self._graph.recalled(sessions=[session]))

    def _changes_of(self, ids: Sequence[str]) -> list[Change]:
        found = list[Change]()
        for some in batches(ids, _IDS):
            found += self._graph.select(CHANGE, RowFilter(one_of={"target": some}), order=("at",))
        return found

    def _chunks_after(self, found: Erasure) -> dict[str, Chunk]:
        """Return memories that stay, without the words that a model wrote beside an erased one."""
        after = dict[str, Chunk]()
        for change in reversed(self._graph.changes(operation="link") if found.linked_in else ()):
            before, became = json.loads(change.before or "{}"), json.loads(change.after or "{}")
            if change.run not in found.linked_in or change.target in found.ids or "summary" not in became:
                continue
            for row in (after.get(change.target), *self._graph.chunks([change.target])):
                if row is None:
                    continue
                same = (row.summary, list(row.keywords)) == (became["summary"], list(became["keywords"]))
                if same:
                    keywords = tuple(before["keywords"])
                    after[row.id] = replace(row, summary=before["summary"], keywords=keywords)
                break
        for row in self._facts_that_stay(found):
            fact = after.get(row.id, row)
            rests_on = dict(fact.metadata[DISTILLED_FROM])  # type: ignore[call-overload]  # checked below
            rests_on["turns"] = [id for id in rests_on["turns"] if id not in found.chunks]
            after[row.id] = replace(fact, metadata={**fact.metadata, DISTILLED_FROM: rests_on})
        return after

    def _facts_that_stay(self, found: Erasure) -> Iterable[Chunk]:
        """Return facts that rest on an erased turn and on others."""
        links = self._graph.links(sorted(found.chunks)) if found.chunks else ()
        ends = {link.target for link in links if link.type == "supports"} - found.chunks
        for row in self._graph.chunks(sorted(ends)):
            rests_on = row.metadata.get(DISTILLED_FROM)
            if isinstance(rests_on, dict) and not found.chunks.isdisjoint(rests_on.get("turns", ())):
                yield row

    def _remaining(self, found: Erasure) -> tuple[str, ...]:
        """Return the chunks that stay and share words with an erased one that they are linked to, or name."""
        links = self._graph.links(sorted(found.chunks)) if found.chunks else ()
        linked = {end for link in links for end in (link.source, link.target)} - found.chunks
        same = {row.id for row in self._graph.chunks(sorted(linked)) if found.traces.in_text(row.text)}
        named = self._graph.mentioned([row.id for row in self._named]) if self._named else ()
        return tuple(sorted(same | {row.chunk for row in named if row.chunk not in found.chunks}))


def _names(text: str, name: str) -> bool:
    return entity_key(name) in entity_key(text)


def _texts_of(change: Change) -> Iterable[str]:
    """Yield the words of a row that a Change keeps."""
    for side in (change.before, change.after):
        row = json.loads(side or "null")
        if isinstance(row, dict):
            yield from (str(row[name]) for name in ("text", "summary", "description") if row.get(name))
