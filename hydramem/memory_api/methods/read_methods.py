"""Operations that recall and list."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import get_args

from hydramem.core.argument_checks import (
    check_choice,
    check_count,
    check_name,
    check_project,
    check_share,
)
from hydramem.core.config import SearchConfig
from hydramem.core.errors import InvalidInputError, NotFoundError
from hydramem.core.ids import session_id
from hydramem.core.results.hits import Hit, LinkedChunk, Prompt, Recall, RecalledMemory
from hydramem.core.results.upkeep_results import ProjectView
from hydramem.core.results.write_results import Curated, DocumentView
from hydramem.core.row_types import Chunk, ChunkKind, Document, RecallMode, Session, State, Tier, Traversal
from hydramem.core.time import When
from hydramem.memory_api import arguments
from hydramem.memory_api.handle import Handle
from hydramem.search.arms.arm_weights import Arm, with_arms
from hydramem.search.layers import SearchLog, bearing_on
from hydramem.search.linked_memories import with_links
from hydramem.search.recall import recall
from hydramem.search.recall_run import RecallSources
from hydramem.search.visible import listings
from hydramem.search.visible.visible_graph import View
from hydramem.storage.chunk_filter import ChunkFilter
from hydramem.storage.files.curated_files import CuratedTarget
from hydramem.text.dates.caller_dates import moment_or_none

_SNIPPET_SHARE = 3
"""A snippet takes at most this part of a prompt block: a third."""

_OWN_TURNS = 40
"""Further hits that are looked at where those of the asking session are left out."""

_OPENING_SHARE = 2
"""The same at the start of a session: a curated file is long, and is not cut."""


class ReadMethods(Handle):
    """Finds and lists what the memory holds."""

    def recall(
        self,
        query: str,
        *,
        limit: int = 10,
        kinds: Sequence[ChunkKind] = (),
        layers: Sequence[Tier] = (),
        scope: str | None = None,
        categories: Sequence[str] = (),
        session: str | None = None,
        happened_from: When | None = None,
        happened_to: When | None = None,
        as_of: When | None = None,
        known_at: When | None = None,
        min_confidence: float = 0.0,
        min_relevance: float | None = None,
        include_private: bool = True,
        traversal: Traversal | None = None,
        arms: Mapping[Arm, float] | None = None,
        mode: RecallMode = "fast",
        context: int = 0,
        max_tokens: int | None = None,
        explain: bool = False,
        also: Sequence[str] = (),
        project: str | None = None,
    ) -> Recall:
        """Find what answers a question: by meaning, by words, and by a graph walk from its entities.

        It searches the entries of curated files too. They are private notes that hold now: a read with
        `as_of` or `known_at`, and a filter by session, label or date, has none of them.

        Args:
            query: A question or words.
            limit: Most hits to return.
            kinds: Only chunks of these kinds; all by default.
            layers: Only chunks of these layers, or entries of curated files (curated); all by default.
            scope: Only chunks at or under this path.
            categories: Only chunks with one of these labels.
            session: Only what was said in this conversation.
            happened_from, happened_to: Only events and turns from, or up to, this time.
            as_of: Return what was true in the world at this time; now by default.
            known_at: Return what the store believed at this time; now by default.
            min_confidence: Only chunks of at least this confidence, 0 to 1.
            min_relevance: Relevance, 0 to 1, of the best hit from which the query counts as answered;
                `search.min_relevance` by default. Hits are returned in either case.
            include_private: Whether hits can be private memories.
            traversal: Graph walk: ppr, bfs, hybrid or none; `search.traversal` by default.
            arms: Weights in place of the configured ones, such as vector=1,text=0.5,graph=0: vector and text
                relative to each other, graph its share of the score; 0 leaves an arm out.
            mode: fast, or deep, which also verifies the relations among the hits and stores no verdict.
            context: Chunks before and after a hit to return in its `context`, 0 to 20.
            max_tokens: Most tokens of all hits; hits that do not fit are left out, none is cut.
            explain: Whether to return how the hits were found: entities, arms, candidates.
            also: Further projects to read; a memory of several appears once, in its more trusted layer, and
                relations come from the first project only.
            project: Project to read; this handle's own by default.

        Raises:
            InvalidInputError: The query is blank or too long, or a filter is wrong.
            ModelUnavailableError: `search.rerank` names a model that is not on this machine.
        """
        where = arguments.chunk_filter(self._name(project), locals())
        deep = check_choice(mode, get_args(RecallMode), name="mode") == "deep"
        floor = None if min_relevance is None else check_share(min_relevance, name="min_relevance")
        settings = with_arms(self.config.search, arms)
        found = self._search(query, where, settings, limit, traversal, explain, context, max_tokens, floor)
        searched = SearchLog(project, where.layers, limit)
        searched.add(found.hits)
        searched.write(projects=len(where.projects), shown=len(found.hits))
        if not deep:
            return found
        from hydramem.search.deep_recall import deepened

        seen = self._view(project, as_of, known_at, include_private=include_private)
        return deepened(found, seen=seen, graph=self._use().graph, judge=self._judge(project))

    def _search(
        self,
        query: str,
        where: ChunkFilter,
        settings: SearchConfig,
        limit: int,
        traversal: Traversal | None = None,
        explain: bool = False,
        context: int = 0,
        max_tokens: int | None = None,
        min_relevance: float | None = None,
    ) -> Recall:
        """Recall in the open store, and record the hits as recalled."""
        store = self._use()
        walk = check_choice(traversal or settings.traversal, get_args(Traversal), name="traversal")
        with store.reading() as space:
            sources = RecallSources(
                graph=store.graph,
                vectors=space.vectors,
                snapshots=store.snapshots,
                embedder=space.embedder,
                settings=settings,
                anchors=lambda: store.anchors.of(space.embedder),
                curated=store.curated,
                reranker=self._reranker,
            )
            found = recall(
                query,
                sources,
                where=where,
                limit=limit,
                traversal=walk,
                explain=explain,
                context=check_count(context, name="context", least=0, most=arguments.MAX_CONTEXT),
                max_tokens=None if max_tokens is None else arguments.token_budget(max_tokens),
                min_relevance=min_relevance,
            )
        store.recalls.note(query, [(hit.project, hit.id) for hit in found.hits])
        return found

    def prime(
        self,
        query: str | None = None,
        *,
        max_tokens: int = 1500,
        max_chars: int | None = None,
        limit: int = 10,
        layers: Sequence[Tier] = (),
        min_relevance: float | None = None,
        exclude: Sequence[str] = (),
        as_of: When | None = None,
        known_at: When | None = None,
        include_private: bool = True,
        session: str | None = None,
        own_project: bool = True,
        project: str | None = None,
    ) -> Prompt:
        """Return what answers a question as one block for a prompt, escaped and within a token budget.

        Where nothing bears on the question (`search.min_relevance`), the block is empty: no text, no tokens.
        Entries of curated files are found like memories.
        Without a question it returns the start of a session: curated files, trusted facts, coming events and
        central entities. It reads the handle's own project and the named one; a memory of both appears once,
        in its more trusted layer, which each snippet names.

        Args:
            query: A question or words; the start of a session by default.
            max_tokens: Most tokens of the block.
            max_chars: Most characters of the block; no bound by default.
            limit: Most snippets.
            layers: With a question, only these layers of both projects: working, curated (entries of curated
                files), shared, verified; all by default.
            min_relevance: Relevance, 0 to 1, that each snippet reaches; by default the best one reaches
                `search.min_relevance`, and the others come with it.
            exclude: With a question, ids of memories that the prompt has already.
            as_of: Return what was true in the world at this time; now by default.
            known_at: Return what the store believed at this time; now by default.
            include_private: Whether snippets can be private memories.
            session: Name of the session that starts or asks: it keeps the curated files as it first read
                them, and is not told its own turns.
            own_project: Whether to read the handle's own project besides the named one.
            project: Project to read in addition to the handle's own.

        Raises:
            InvalidInputError: The project is blank, or the query is blank or too long.
        """
        from hydramem.search.prompt_block import prime

        named = None if project is None else check_project(project)
        recalls = self._use().recalls
        asked = recalls.session if session is None else check_name(session, name="session")
        floor = None if min_relevance is None else check_share(min_relevance, name="min_relevance")
        most = check_count(limit, name="limit", most=self.config.search.max_limit)
        searched = SearchLog(named, layers, limit)
        filters = {
            "layers": layers,
            "as_of": as_of,
            "known_at": known_at,
            "include_private": include_private,
        }

        def find(name: str) -> Sequence[Hit]:
            if query is None:
                seen = self._view(name, as_of, known_at, include_private=include_private)
                return self._opening(seen, name, session=asked)
            found = self._search(
                query,
                arguments.chunk_filter(name, filters),
                self.config.search,
                min(most + len(exclude) + (_OWN_TURNS if session else 0), self.config.search.max_limit),
                min_relevance=floor,
            )
            searched.add(found.hits)
            return bearing_on(found, floor, exclude, session_id(name, asked) if session and asked else None)

        with recalls.during(None):  # only the hits in the block are recorded
            found = prime(
                own=self._name(None) if own_project or named is None else named,
                named=named,
                limit=most,
                max_tokens=arguments.token_budget(max_tokens),
                max_chars=arguments.character_budget(max_chars),
                find=find,
                share=_OPENING_SHARE if query is None else _SNIPPET_SHARE,
            )
        if query is not None:
            recalls.note(query, [(one.project, one.id) for one in found.snippets])
            read = {named or self._project, *((self._project,) if own_project else ())}
            searched.write(projects=len(read), shown=len(found.snippets))
        return found

    def _opening(self, seen: View, project: str, *, session: str | None) -> tuple[Hit, ...]:
        from hydramem.search.overview.session_start import opening

        # The curated files describe the user, so a reader without private memories gets none.
        shown = seen.where.include_private
        curated = self.curated(session=session, project=project) if shown else ()
        return opening(curated=curated, seen=seen, graph=self._use().graph)

    def get(self, id: str) -> LinkedChunk:
        """Return one chunk or memory in any state, or an entry of a curated file, with its links.

        Args:
            id: Id of the chunk, or its first 8 digits or more, or id of a hit in a curated file.

        Raises:
            InvalidInputError: Several ids begin so.
            NotFoundError: No chunk has this id, and no entry of a curated file as it is now.
        """
        store = self._use()
        found = next(iter(store.graph.chunks([id])), None) or store.curated.entry(id)
        if found is None:
            found = listings.chunk_by_short_id(id, store.graph)
        if found is None:
            raise NotFoundError(f"{id[:80]!r}: no chunk has this id")
        return with_links(found, store.graph)

    def memories(
        self,
        *,
        kinds: Sequence[ChunkKind] = ("note", "fact", "event", "turn"),
        states: Sequence[State] = (),
        scope: str | None = None,
        session: str | None = None,
        entity: str | None = None,
        categories: Sequence[str] = (),
        event_type: str | None = None,
        expired: bool = False,
        as_of: When | None = None,
        known_at: When | None = None,
        limit: int = 50,
        offset: int = 0,
        project: str | None = None,
    ) -> tuple[Chunk, ...]:
        """List memories, newest first: what is true and believed now, or was at another time.

        Args:
            kinds: Only memories of these kinds.
            states: Only memories in these states, at any time: active, superseded, archived, quarantined. By
                default active ones, and those that `as_of` and `known_at` ask for.
            scope: Only memories at or under this path.
            session: Only memories of this conversation.
            entity: Only memories that mention this name, alias or id of an entity.
            categories: Only memories with one of these labels.
            event_type: Only events of this type, such as release.
            expired: Only memories that have expired, which nothing else lists.
            as_of: Return what was true in the world at this time; now by default.
            known_at: Return what the store believed at this time; now by default.
            limit: Most rows to return.
            offset: Rows to skip.
            project: Project to read; this handle's own by default.

        Raises:
            NotFoundError: No entity has this name.
        """
        store, name = self._use(), self._name(project)
        where = arguments.chunk_filter(name, locals())
        at = None if expired or (states and as_of is None) else where.at
        mentioned = None
        if entity is not None:
            snapshot = store.snapshots.of(name)
            mentioned = snapshot.nodes.ids[snapshot.entity_named(entity)]
        return store.graph.list_chunks(
            replace(where, at=at),
            arguments.page(limit, offset),
            event_type=event_type,
            mentioning=mentioned,
            expired_by=where.at if expired else None,
        )

    def curated(
        self, target: CuratedTarget | None = None, *, session: str | None = None, project: str | None = None
    ) -> tuple[Curated, ...]:
        """Return the curated files: short plain text for every prompt, which a person can edit.

        The files are in the store's folder `curated`, by project, in the format of Hermes Agent. `recall` and
        `prime` with a question find their entries, as the files are at that moment.

        Args:
            target: memory or user; both by default.
            session: Name of a session; it keeps the block that it first read, whatever changes.
            project: Project of the files; this handle's own by default.

        Raises:
            StorageError: A file cannot be read.
        """
        from hydramem.ingest.memories.edit_curated_files import curated

        name = self._name(project)
        targets: Sequence[CuratedTarget] = get_args(CuratedTarget) if target is None else (target,)
        graph = self._use().graph
        found = [curated(self._curated(one, name), graph) for one in targets]
        if session is None:
            return tuple(found)
        blocks, asked = self._use().curated_blocks, check_name(session, name="session")
        return tuple(replace(one, block=blocks.frozen(name, asked, one)) for one in found)

    def documents(
        self,
        *,
        as_of: When | None = None,
        known_at: When | None = None,
        limit: int = 50,
        offset: int = 0,
        project: str | None = None,
    ) -> tuple[Document, ...]:
        """List documents, newest first.

        Args:
            as_of: Return the documents that were true at this time; at any by default.
            known_at: Return the documents that the store held at this time; now by default.
            limit: Most rows to return.
            offset: Rows to skip.
            project: Project to read; this handle's own by default.
        """
        return self._use().graph.list_documents(
            self._name(project),
            arguments.page(limit, offset),
            states=arguments.states(as_of, known_at),
            at=moment_or_none(as_of, "as_of"),
            known_at=moment_or_none(known_at, "known_at"),
        )

    def document(
        self,
        source: str,
        *,
        as_of: When | None = None,
        known_at: When | None = None,
        project: str | None = None,
    ) -> DocumentView:
        """Return a document with its chunks in order.

        Args:
            source: Id of the document, or the source that it was ingested from.
            as_of: Return the chunks that were true at this time; at any by default.
            known_at: Return the chunks that it had at this time; now by default.
            project: Project to read; this handle's own by default.

        Raises:
            NotFoundError: The project has no such document.
        """
        return listings.document(
            self._use().graph,
            source,
            project=self._name(project),
            states=arguments.states(as_of, known_at),
            at=moment_or_none(as_of, "as_of"),
            known_at=moment_or_none(known_at, "known_at"),
        )

    def projects(self) -> tuple[ProjectView, ...]:
        """List projects and what each holds."""
        return self._use().graph.projects()

    def sessions(
        self,
        *,
        session: str | None = None,
        limit: int = 50,
        offset: int = 0,
        project: str | None = None,
    ) -> tuple[Session, ...]:
        """List sessions, newest first.

        Args:
            session: Only this session, by its name or id.
            limit: Most rows to return.
            offset: Rows to skip.
            project: Project to read; this handle's own by default.
        """
        store = self._use()
        store.recalls.flush()
        name, page = self._name(project), arguments.page(limit, offset)
        if session is None:
            return store.graph.list_sessions(name, page)
        found = store.graph.sessions([listings.session_key(name, check_name(session, name="session"))])
        return tuple(row for row in found if row.project == name)[page.offset : page.offset + page.limit]

    def recalled(
        self,
        session: str | None = None,
        *,
        id: str | None = None,
        limit: int = 50,
        offset: int = 0,
        project: str | None = None,
    ) -> tuple[RecalledMemory, ...]:
        """List what a session recalled, or where a memory was recalled, newest first.

        Args:
            session: Name or id of the session.
            id: Id of a memory or chunk; with a session, only its recalls there.
            limit: Most rows to return.
            offset: Rows to skip.
            project: Project of the sessions; this handle's own by default.

        Raises:
            InvalidInputError: Neither a session nor an id is given.
        """
        from hydramem.search.overview.recalled_memories import recalled_memories

        if session is None and id is None:
            raise InvalidInputError("recalled: give a session, or the id of a memory")
        store = self._use()
        store.recalls.flush()
        return recalled_memories(
            store.graph,
            arguments.page(limit, offset),
            project=self._name(project),
            session=None if session is None else check_name(session, name="session"),
            chunk=None if id is None else check_name(id, name="id"),
        )
