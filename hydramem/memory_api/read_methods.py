"""Operations that recall and list."""

from collections.abc import Sequence
from dataclasses import replace
from typing import get_args

from hydramem.core.argument_checks import (
    check_choice,
    check_choices,
    check_count,
    check_name,
    check_project,
    check_scope,
    check_share,
)
from hydramem.core.errors import NotFoundError
from hydramem.core.results.hits import Hit, LinkedChunk, Prompt, Recall
from hydramem.core.results.upkeep_results import ProjectView
from hydramem.core.results.write_results import Curated, DocumentView
from hydramem.core.row_types import Chunk, ChunkKind, Document, Layer, RecallMode, Session, State, Traversal
from hydramem.core.time import When, now
from hydramem.ingest.memories.edit_curated_files import curated
from hydramem.memory_api import handle
from hydramem.memory_api.handle import Handle
from hydramem.search.deep_recall import deepened
from hydramem.search.linked_memories import with_links
from hydramem.search.overview.session_start import opening
from hydramem.search.prompt_block import prime
from hydramem.search.recall import RecallSources, recall
from hydramem.search.visible import listings
from hydramem.search.visible.visible_graph import View
from hydramem.storage.chunk_filter import ChunkFilter
from hydramem.storage.files.curated_files import CuratedTarget

# A curated file is long for one snippet, and belongs together.
_SHARE, _OPENING_SHARE = 3, 2


class ReadMethods(Handle):
    """What finds and lists what the memory holds."""

    def recall(
        self,
        query: str,
        *,
        limit: int = 10,
        kinds: Sequence[ChunkKind] = (),
        layers: Sequence[Layer] = (),
        scope: str | None = None,
        categories: Sequence[str] = (),
        session: str | None = None,
        happened_from: When | None = None,
        happened_to: When | None = None,
        as_of: When | None = None,
        known_at: When | None = None,
        min_confidence: float = 0.0,
        include_private: bool = True,
        traversal: Traversal | None = None,
        mode: RecallMode = "fast",
        context: int = 0,
        max_tokens: int | None = None,
        explain: bool = False,
        also: Sequence[str] = (),
        project: str | None = None,
    ) -> Recall:
        """Find what bears on a question: by meaning, by words, and by walking the graph from its entities.

        Deep mode also returns the relations among what was found, each verified now: by a model where one
        is configured and the graph and the text leave it open. It writes nothing, no verdict either.

        Args:
            query: A question or words.
            limit: Most hits to return.
            kinds: Only chunks of these kinds; all where empty.
            layers: Only chunks of these layers; all where empty.
            scope: Only chunks at or under this path.
            categories: Only chunks with one of these labels.
            session: Only what was said in this conversation.
            happened_from: Only events and turns from then on.
            happened_to: Only events and turns up to then.
            as_of: What was true in the world at that time; now where not given.
            known_at: What the store believed at that time; what it believes now where not given.
            min_confidence: Only chunks of at least this confidence, 0 to 1.
            include_private: Whether private memories may be among the hits.
            traversal: Graph arm: ppr, bfs, hybrid or none; as configured where not given.
            mode: fast, or deep, which also verifies the relations among what was found.
            context: Chunks before and after a hit that its `context` takes in, 0 to 20.
            max_tokens: Most tokens of the hits together; what does not fit is left out, nothing is cut.
            explain: Whether to say how the hits came about: entities, arms, candidates.
            also: Further namespaces to read together with it; relations are those of the first alone.
            project: Namespace to read; the handle's own where not given.

        Raises:
            InvalidInputError: The query is blank or too long, or a filter is wrong.
            ModelUnavailableError: `search.rerank` names a model that is not on this machine.
        """
        store = self._use()
        name = self._name(project)
        where = ChunkFilter(
            projects=tuple(dict.fromkeys((name, *map(check_project, handle.ids(also))))),
            kinds=check_choices(kinds, get_args(ChunkKind), name="kinds"),
            layers=check_choices(layers, get_args(Layer), name="layers"),
            scope=None if scope is None else check_scope(scope),
            categories=tuple(categories),
            sessions=() if session is None else (listings.session_key(name, session),),
            include_private=include_private,
            min_confidence=check_share(min_confidence, name="min_confidence"),
            happened_from=handle.when(happened_from, "happened_from"),
            happened_to=handle.when(happened_to, "happened_to"),
            states=handle.states(as_of, known_at),
            at=handle.when(as_of, "as_of") or now(),
            known_at=handle.when(known_at, "known_at"),
        )
        deep = check_choice(mode, get_args(RecallMode), name="mode") == "deep"
        with store.reading() as space:
            sources = RecallSources(
                graph=store.graph,
                vectors=space.vectors,
                snapshots=store.snapshots,
                embedder=space.embedder,
                settings=store.config.search,
                reranker=self._reranker,
            )
            found = recall(
                query,
                sources,
                where=where,
                limit=limit,
                traversal=check_choice(
                    traversal or store.config.search.traversal, get_args(Traversal), name="traversal"
                ),
                explain=explain,
                context=check_count(context, name="context", least=0, most=handle.MAX_CONTEXT),
                max_tokens=handle.tokens(max_tokens),
            )
        store.recalls.note(query, [(hit.project, hit.id) for hit in found.hits])
        if not deep:
            return found
        seen = self._view(project, as_of, known_at, include_private=include_private)
        return deepened(found, seen=seen, graph=store.graph, judge=self._judge(project))

    def prime(
        self,
        query: str | None = None,
        *,
        max_tokens: int = 1500,
        limit: int = 10,
        as_of: When | None = None,
        known_at: When | None = None,
        include_private: bool = True,
        session: str | None = None,
        project: str | None = None,
    ) -> Prompt:
        """Return what bears on a question as one block for a prompt, escaped and within a token budget.

        Without a question, what a session should start with: the curated files, what is known firmly, events
        to come, and the entities that most turns around.

        It holds what the handle's own project knows and, where the call names a project, what that one
        knows, each snippet with its layer: agent- or project- and working, shared or verified. The same
        memory found in two layers comes once, at the more trusted.

        Args:
            query: A question or words; a session's start where not given.
            max_tokens: Most tokens of the block.
            limit: Most snippets.
            as_of: What was true in the world at that time; now where not given.
            known_at: What the store believed at that time; what it believes now where not given.
            include_private: Whether private memories may be among them.
            session: Name of the conversation that starts: it is shown the curated files as it was shown them
                first, whatever changed.
            project: A namespace to read beside the handle's own.

        Raises:
            InvalidInputError: The project is blank or no text, or the query is blank or too long.
        """
        named = None if project is None else check_project(project)
        recalls = self._use().recalls
        asked = recalls.session if session is None else check_name(session, name="session")

        def find(name: str) -> Sequence[Hit]:
            if query is None:
                seen = self._view(name, as_of, known_at, include_private=include_private)
                return self._opening(seen, name, session=asked)
            return self.recall(
                query,
                limit=limit,
                as_of=as_of,
                known_at=known_at,
                include_private=include_private,
                project=name,
            ).hits

        with recalls.during(None):  # what the block holds is of use, not all that was found
            found = prime(
                own=self._project,
                named=named,
                limit=check_count(limit, name="limit", most=self.config.search.max_limit),
                max_tokens=check_count(max_tokens, name="max_tokens", most=handle.MAX_TOKENS),
                find=find,
                share=_OPENING_SHARE if query is None else _SHARE,
            )
        if query is not None:
            recalls.note(query, [(one.project, one.id) for one in found.snippets])
        return found

    def _opening(self, seen: View, project: str, *, session: str | None) -> tuple[Hit, ...]:
        # The files tell of the user: where nothing private may be shown, they are none.
        shown = seen.where.include_private
        curated = self.curated(session=session, project=project) if shown else ()
        return opening(curated=curated, seen=seen, graph=self._use().graph)

    def get(self, id: str) -> LinkedChunk:
        """Return one chunk or memory, whatever its state, with its links.

        Args:
            id: Its id.

        Raises:
            NotFoundError: There is none.
        """
        graph = self._use().graph
        found = graph.chunks([id])
        if not found:
            raise NotFoundError(f"{id[:80]!r}: no chunk has this id")
        return with_links(found[0], graph)

    def memories(
        self,
        *,
        kinds: Sequence[ChunkKind] = ("note", "fact", "event", "turn"),
        states: Sequence[State] = (),
        scope: str | None = None,
        session: str | None = None,
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
            kinds: Kinds to list.
            states: List those of these states, whenever they hold: active, superseded, archived,
                quarantined. Where not given: active ones, and those that `as_of` and `known_at` ask for.
            scope: Only those at or under this path.
            session: Only those of this conversation.
            categories: Only those with one of these labels.
            event_type: Only events of this type, such as release.
            expired: Only those that have expired, which nothing else lists.
            as_of: Those true in the world at that time; now where not given.
            known_at: Those the store believed at that time; what it believes now where not given.
            limit: Most rows to return.
            offset: Rows to pass over.
            project: Namespace to read; the handle's own where not given.
        """
        name, moment = self._name(project), handle.when(as_of, "as_of")
        where = ChunkFilter(
            projects=(name,),
            kinds=check_choices(kinds, get_args(ChunkKind), name="kinds"),
            states=check_choices(states, get_args(State), name="states") or handle.states(as_of, known_at),
            scope=None if scope is None else check_scope(scope),
            sessions=() if session is None else (listings.session_key(name, session),),
            categories=handle.ids(categories),
            at=None if expired else moment or (None if states else now()),
            known_at=handle.when(known_at, "known_at"),
        )
        return self._use().graph.list_chunks(
            where,
            handle.page(limit, offset),
            event_type=event_type,
            expired_by=(moment or now()) if expired else None,
        )

    def curated(
        self,
        target: CuratedTarget | None = None,
        *,
        session: str | None = None,
        project: str | None = None,
    ) -> tuple[Curated, ...]:
        """Show the curated files: short plain text that goes into every prompt, and that a person may edit.

        They stand in the store's folder `curated`, a folder for each project, in the form of Hermes Agent.

        Args:
            target: memory or user; both where not given.
            session: Name of a conversation: it is shown the block that it was shown first, whatever changed.
            project: Namespace whose files they are; the handle's own where not given.

        Raises:
            StorageError: A file cannot be read.
        """
        name = self._name(project)
        wanted: Sequence[CuratedTarget] = get_args(CuratedTarget) if target is None else (target,)
        shown = [curated(self._curated(one, name)) for one in wanted]
        if session is None:
            return tuple(shown)
        blocks, asked = self._use().curated_blocks, check_name(session, name="session")
        return tuple(replace(one, block=blocks.frozen(name, asked, one)) for one in shown)

    def documents(
        self,
        *,
        known_at: When | None = None,
        limit: int = 50,
        offset: int = 0,
        project: str | None = None,
    ) -> tuple[Document, ...]:
        """List documents, newest first.

        Args:
            known_at: Those the store held at that time; those it holds now where not given.
            limit: Most rows to return.
            offset: Rows to pass over.
            project: Namespace to read; the handle's own where not given.
        """
        return self._use().graph.list_documents(
            self._name(project),
            handle.page(limit, offset),
            states=handle.states(None, known_at),
            known_at=handle.when(known_at, "known_at"),
        )

    def document(
        self, source: str, *, known_at: When | None = None, project: str | None = None
    ) -> DocumentView:
        """Return a document with its chunks in order.

        Args:
            source: Its id, or the source that it was ingested from.
            known_at: The chunks that it had at that time; those it has now where not given.
            project: Namespace to read; the handle's own where not given.

        Raises:
            NotFoundError: There is none.
        """
        return listings.document(
            self._use().graph,
            source,
            project=self._name(project),
            states=handle.states(None, known_at),
            known_at=handle.when(known_at, "known_at"),
        )

    def projects(self) -> tuple[ProjectView, ...]:
        """List projects and what each holds."""
        return self._use().graph.projects()

    def sessions(
        self, *, limit: int = 50, offset: int = 0, project: str | None = None
    ) -> tuple[Session, ...]:
        """List conversations, newest first.

        Args:
            limit: Most rows to return.
            offset: Rows to pass over.
            project: Namespace to read; the handle's own where not given.
        """
        self._use().recalls.flush()
        return self._use().graph.list_sessions(self._name(project), handle.page(limit, offset))
