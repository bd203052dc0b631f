"""Memory: one handle on an opened folder, one short method an operation; it composes the layers."""

import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path as FilePath
from types import TracebackType
from typing import get_args

from hydramem import opened
from hydramem.core.check import (
    check_choice,
    check_choices,
    check_count,
    check_name,
    check_project,
    check_scope,
    check_share,
    check_within,
)
from hydramem.core.config import Config, load_config
from hydramem.core.errors import NotFoundError
from hydramem.core.results import (
    Calibrated,
    CentralEntity,
    Community,
    Conflicts,
    Curated,
    Diagnosis,
    DocumentView,
    Forgotten,
    GraphView,
    History,
    Ingested,
    Neighbor,
    Path,
    ProjectView,
    Prompt,
    Recall,
    Reindexed,
    Related,
    RelationView,
    Remembered,
    Stats,
    Surroundings,
    Verified,
)
from hydramem.core.time import When, now, parse_when
from hydramem.core.types import (
    Chunk,
    ChunkKind,
    Document,
    Entity,
    Layer,
    RecallMode,
    Session,
    State,
    Traversal,
)
from hydramem.graph.functional import seems_functional
from hydramem.ingest.curate import CuratedPlace, curate, curated
from hydramem.ingest.extracted import ExtractedChunk, ExtractedEntity, ExtractedRelation, ingest_extracted
from hydramem.ingest.ingest import Progress, ingest
from hydramem.ingest.relate import Functional, relate
from hydramem.ingest.remember import Draft, remember
from hydramem.ingest.statement import Statement
from hydramem.ingest.target import Accept, Target
from hydramem.ingest.unrelate import Withdrawal, unrelate
from hydramem.ingest.withdraw import forget, revive
from hydramem.llm.choose import choose_generator, choose_next_embedder, still_to_configure
from hydramem.llm.model import Embedder, Generator
from hydramem.search import explore, lists, overview
from hydramem.search.deep import deepened
from hydramem.search.history import history
from hydramem.search.prime import prime
from hydramem.search.rerank import choose_reranker
from hydramem.search.search import recall
from hydramem.search.view import View, view
from hydramem.storage.curated import CuratedChange, CuratedTarget
from hydramem.storage.store import LIVE, ChunkFilter, Listing
from hydramem.verification.accepting import Accepting
from hydramem.verification.calibration.calibrate import Place, Wanted, tend
from hydramem.verification.check import Asked, check
from hydramem.verification.conflict import conflicts
from hydramem.verification.verify import Judge

_MAX_PAGE = 1000
_MAX_TOKENS = 1_000_000
_MAX_CONTEXT = 20
_MAX_STARTS = 50


def connect(
    path: str | FilePath,
    *,
    project: str = "default",
    config: Config | str | FilePath | None = None,
    embedder: Embedder | None = None,
    generator: Generator | None = None,
    reindexing: bool = False,
) -> "Memory":
    """Open a folder as a memory, making it where there is none.

    Two connects to the same real path in one process share one counted handle on the stores.

    Args:
        path: The store folder.
        project: Namespace that calls without a `project` read and write.
        config: Settings, or a YAML file of them; None reads `config.yml` in the folder if there is one.
        embedder: Makes the vectors; None chooses as `embedding.model` says.
        generator: Answers prompts; None chooses as `llm` says.
        reindexing: Open with the store's own embedder, whatever `embedding` says, so that `reindex` can
            move the store to what it says.

    Raises:
        ConfigError: A setting is wrong.
        StoreBusyError: Another process holds the folder.
        EmbeddingMismatchError: The folder holds vectors of another embedder.
        SchemaError: A newer version wrote the folder.
        StorageError: The folder cannot be read or written.
    """
    folder = FilePath(path).expanduser().resolve()
    default = check_project(project)
    settings = config if isinstance(config, Config) else load_config(config_file(folder, config))
    store = opened.acquire(folder, settings, embedder, reindexing=reindexing)
    return Memory(store, default, generator)


def config_file(folder: FilePath, given: str | FilePath | None) -> FilePath | None:
    """Return the file of settings for a store: the one given, else `config.yml` in its folder, else None."""
    if given is not None:
        return FilePath(given).expanduser()
    beside = folder / "config.yml"
    return beside if beside.is_file() else None


class Memory:
    """A memory: what `connect` returns. Safe to use from many threads; close it, or use it with `with`."""

    def __init__(self, store: opened.OpenStore, project: str, generator: Generator | None) -> None:
        self._opened = store
        self._project = project
        self._given_generator = generator
        self._reranker = choose_reranker(
            store.config.search, store.config.embedding, lambda: self._generator("rerank")
        )
        self._closed = False
        self._close_once = threading.Lock()

    def __enter__(self) -> "Memory":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Give the handle back; the last one of the process closes the stores. Harmless when repeated."""
        with self._close_once:
            closed, self._closed = self._closed, True
        if not closed:
            opened.release(self._opened)

    @property
    def folder(self) -> FilePath:
        """Folder of the store."""
        return self._opened.path

    @property
    def config(self) -> Config:
        """Settings that the store was opened with."""
        return self._opened.config

    # Write --------------------------------------------------------------------------------------

    def ingest(
        self,
        sources: Sequence[str],
        *,
        project: str | None = None,
        progress: Callable[[Progress], None] | None = None,
    ) -> Ingested:
        """Read documents, transcripts and code into the memory; what is unchanged costs nothing.

        An edited document replaces its chunks and retires what only they supported. A file that cannot
        be read is skipped and reported.

        Args:
            sources: Files and folders: Markdown, text, HTML, source code, chat transcripts in JSON or JSONL,
                and as text with lines such as `Ada: ...`.
            project: Namespace to write to; the handle's own where not given.
            progress: Called as work is done.

        Raises:
            InvalidInputError: A source does not exist; nothing is written.
        """
        store = self._use()
        accepting = Accepting(self._judge(project))
        target = self._target(project, accepting)
        with store.one_ingest:
            done = ingest(
                [sources] if isinstance(sources, str | FilePath) else sources,
                target=target,
                settings=store.config.ingest,
                generator=self._generator("extract"),
                progress=progress,
            )
            store.mirror.settle()
        decisions = accepting.afterwards("ingest", graph=store.graph, mirror=store.mirror)
        return replace(done, verification=decisions)

    def ingest_extracted(
        self,
        source: str,
        chunks: Sequence[ExtractedChunk],
        *,
        entities: Sequence[ExtractedEntity] = (),
        relations: Sequence[ExtractedRelation] = (),
        title: str | None = None,
        project: str | None = None,
    ) -> Ingested:
        """Store a document whose chunks, entities and relations the agent has extracted itself.

        Args:
            source: Where the text came from; ingesting the same source again replaces it.
            chunks: Its text in order.
            entities: Named things in it; those that only a relation names are added.
            relations: Typed edges between entities, by name, with the words that state them.
            title: The document's title.
            project: Namespace to write to; the handle's own where not given.

        Raises:
            InvalidInputError: A field is wrong; nothing is written.
        """
        store = self._use()
        accepting = Accepting(self._judge(project))
        target = self._target(project, accepting)
        with store.one_ingest:
            done = ingest_extracted(
                source,
                chunks,
                entities=entities,
                relations=relations,
                title=title,
                target=target,
                settings=store.config.ingest,
                screening=store.config.memory,
            )
        decisions = accepting.afterwards("ingest_extracted", graph=store.graph, mirror=store.mirror)
        return replace(done, verification=decisions)

    def remember(
        self,
        text: str,
        *,
        kind: ChunkKind = "note",
        source: str = "",
        author: str | None = None,
        session: str | None = None,
        scope: str = "/",
        categories: Sequence[str] = (),
        importance: float = 0.5,
        confidence: float = 1.0,
        happened_at: When | None = None,
        valid_from: When | None = None,
        valid_to: When | None = None,
        expires_at: When | None = None,
        private: bool = False,
        project: str | None = None,
    ) -> Remembered:
        """Store one memory; an equal current one is returned instead of stored twice.

        A text that gives orders to the model that reads it, or hides something, is quarantined: kept and
        listed, not recalled until a person revives it.

        Args:
            text: What to remember.
            kind: note, fact, event (give `happened_at`) or turn (give `session`).
            source: Where it came from, as a person reads it.
            author: Who said it.
            session: Name of the conversation it belongs to.
            scope: Path such as /infra/database.
            categories: Labels to filter by.
            importance: 0 to 1.
            confidence: 0 to 1.
            happened_at: When the event took place.
            valid_from: From when it is true in the world.
            valid_to: Until when it is true in the world.
            expires_at: When it stops being recalled.
            private: Keep it out of recall that leaves private memories out.
            project: Namespace to write to; the handle's own where not given.

        Raises:
            InvalidInputError: A field is wrong; nothing is written.
        """
        store = self._use()
        draft = Draft(
            text=text,
            kind=check_choice(kind, get_args(ChunkKind), name="kind"),
            source=source,
            author=author,
            session=session,
            scope=check_scope(scope),
            categories=tuple(check_name(category, name="categories") for category in categories),
            importance=check_share(importance, name="importance"),
            confidence=check_share(confidence, name="confidence"),
            happened_at=_when(happened_at, "happened_at"),
            valid_from=_when(valid_from, "valid_from"),
            valid_to=_when(valid_to, "valid_to"),
            expires_at=_when(expires_at, "expires_at"),
            private=private,
        )
        accepting = Accepting(self._judge(project))
        done = remember(draft, target=self._target(project, accepting), settings=store.config.memory)
        accepting.afterwards("remember", graph=store.graph, mirror=store.mirror)
        return done

    def relate(
        self,
        subject: str,
        type: str,
        object: str,
        *,
        quote: str | None = None,
        evidence: Sequence[str] = (),
        confidence: float = 1.0,
        bidirectional: bool = False,
        valid_from: When | None = None,
        valid_to: When | None = None,
        subject_type: str = "thing",
        object_type: str = "thing",
        reason: str | None = None,
        project: str | None = None,
    ) -> Related:
        """Assert a relation between two named things; an equal current one is returned, with what is new.

        It is verified like any other: what its evidence denies is rejected and only kept in the history.
        Of a type that has one object at a time (`verification.functional`), the relation before it ends
        where this one begins later; what cannot be told apart in time stays, and is named as a conflict.
        One that had ended and is stated again without a time holds again from now on.

        Args:
            subject: Name or alias of the one; made where there is none.
            type: What it does to the other, such as works_for.
            object: Name or alias of the other.
            quote: The words that state it; they must occur in the evidence where there is any.
            evidence: Ids of chunks that state it.
            confidence: 0 to 1.
            bidirectional: Whether it holds both ways, as married_to does.
            valid_from: From when it is true in the world.
            valid_to: Until when it is true in the world; corrects the end of a stored one.
            subject_type: What the subject is, such as person, where that is not known yet.
            object_type: The same of the object.
            reason: Why it is stated, for `history`.
            project: Namespace to write to; the handle's own where not given.

        Raises:
            InvalidInputError: A field is wrong, or the quote is not in the evidence; nothing is written.
            NotFoundError: The project has no such chunk; nothing is written.
        """
        store, name = self._use(), self._name(project)
        statement = Statement(
            subject=subject,
            type=type,
            object=object,
            quote=quote,
            evidence=_ids(evidence),
            confidence=confidence,
            bidirectional=bidirectional,
            valid_from=_when(valid_from, "valid_from"),
            valid_to=_when(valid_to, "valid_to"),
            subject_type=subject_type,
            object_type=object_type,
            reason=reason,
        )
        functional = Functional(
            types=store.config.verification.functional,
            seems=lambda type: seems_functional(store.snapshots.of(name), type),
        )
        done = relate(statement, target=self._target(project), functional=functional)
        return lists.related(done, store.graph)

    def unrelate(
        self,
        subject: str,
        type: str,
        object: str,
        *,
        ended: When | None = None,
        valid_from: When | None = None,
        reason: str | None = None,
        project: str | None = None,
    ) -> tuple[RelationView, ...]:
        """Say that a relation holds no more since a time, or, without one, that it never did.

        With `ended` it stays true for the time before. Without, it is archived: `revive` with its id, or
        relating again, brings it back. Returns what changed.

        Args:
            subject: Name or alias of the one.
            type: The relation's type.
            object: Name or alias of the other.
            ended: Until when it held.
            valid_from: Only the one that held from then on; its end is corrected where it has one.
            reason: Why, for `history`.
            project: Namespace to write to; the handle's own where not given.

        Raises:
            NotFoundError: The project has no such relation; nothing is written.
            InvalidInputError: It would end before it begins; nothing is written.
        """
        store = self._use()
        withdrawal = Withdrawal(
            subject=subject,
            type=type,
            object=object,
            ended=_when(ended, "ended"),
            valid_from=_when(valid_from, "valid_from"),
            reason=reason,
        )
        return lists.named(unrelate(withdrawal, target=self._target(project)), store.graph)

    def curate(
        self,
        target: CuratedTarget,
        changes: Sequence[CuratedChange] = (),
        *,
        to_notes: bool = False,
        from_notes: bool = False,
        project: str | None = None,
    ) -> Curated:
        """Change `MEMORY.md` or `USER.md` by a batch, all of it or nothing; see `curated`.

        An entry that gives orders to the model that reads it, or hides something, is refused.

        Args:
            target: memory for what the agent knows, user for whom it works with.
            changes: Made one after the other: add an entry, or replace or remove the one that holds certain
                words.
            to_notes: Keep each entry as a note too, with the file's name as its source; notes of entries that
                this batch takes out are forgotten.
            from_notes: Add notes whose source is the file's name, the most important first, as far as there
                is room.
            project: Namespace whose file it is; the handle's own where not given.

        Raises:
            InvalidInputError: A change is wrong, ambiguous or too long, or a person left the file in a form
                that would not be kept; nothing is written.
            NotFoundError: No entry holds the words of a change; nothing is written.
            StoreBusyError: Another program writes the file.
        """
        store = self._use()
        return curate(
            self._curated(target, self._name(project)),
            (changes,) if isinstance(changes, CuratedChange) else changes,
            to_notes=to_notes,
            from_notes=from_notes,
            target=self._target(project),
            forget=lambda ids: forget(ids, graph=store.graph, mirror=store.mirror),
        )

    def forget(self, ids: Sequence[str]) -> Forgotten:
        """Archive memories, chunks or whole documents: no longer recalled, still in history, see `revive`.

        Relations that only they supported are archived with them.

        Args:
            ids: Ids of chunks or documents.

        Raises:
            NotFoundError: An id is not in the store; nothing is written.
        """
        store = self._use()
        return forget(_ids(ids), graph=store.graph, mirror=store.mirror)

    def revive(self, ids: Sequence[str]) -> Forgotten:
        """Bring back what was forgotten, with the relations that it supports, or what was unrelated.

        It undoes the forgetting: reads of what was known answer as if it had not happened. A quarantined
        memory is recalled from then on: read it first.

        Args:
            ids: Ids of chunks, documents or relations.

        Raises:
            NotFoundError: An id is not in the store; nothing is written.
        """
        store = self._use()
        return revive(_ids(ids), graph=store.graph, mirror=store.mirror)

    # Read ---------------------------------------------------------------------------------------

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
            project: Namespace to read; the handle's own where not given.

        Raises:
            InvalidInputError: The query is blank or too long, or a filter is wrong.
            ModelUnavailableError: `search.rerank` names a model that is not on this machine.
        """
        store = self._use()
        name = self._name(project)
        where = ChunkFilter(
            projects=(name,),
            kinds=check_choices(kinds, get_args(ChunkKind), name="kinds"),
            layers=check_choices(layers, get_args(Layer), name="layers"),
            scope=None if scope is None else check_scope(scope),
            categories=tuple(categories),
            sessions=() if session is None else (lists.session_key(name, session),),
            include_private=include_private,
            min_confidence=check_share(min_confidence, name="min_confidence"),
            happened_from=_when(happened_from, "happened_from"),
            happened_to=_when(happened_to, "happened_to"),
            states=_states(as_of, known_at),
            at=_when(as_of, "as_of") or now(),
            known_at=_when(known_at, "known_at"),
        )
        deep = check_choice(mode, get_args(RecallMode), name="mode") == "deep"
        with store.reading() as space:
            found = recall(
                query,
                where=where,
                limit=limit,
                traversal=check_choice(
                    traversal or store.config.search.traversal, get_args(Traversal), name="traversal"
                ),
                graph=store.graph,
                vectors=space.vectors,
                snapshots=store.snapshots,
                embedder=space.embedder,
                settings=store.config.search,
                explain=explain,
                context=check_count(context, name="context", least=0, most=_MAX_CONTEXT),
                max_tokens=_tokens(max_tokens),
                reranker=self._reranker,
            )
        if not deep:
            return found
        seen = self._view(project, as_of, known_at, include_private=include_private)
        return deepened(found, seen=seen, graph=store.graph, judge=self._judge(project))

    def prime(
        self,
        query: str,
        *,
        max_tokens: int = 1500,
        limit: int = 10,
        as_of: When | None = None,
        known_at: When | None = None,
        include_private: bool = True,
        project: str | None = None,
    ) -> Prompt:
        """Return what bears on a question as one block for a prompt, escaped and within a token budget.

        It holds what the handle's own project knows and, where the call names a project, what that one
        knows, each snippet with its layer: agent- or project- and working, shared or verified. The same
        memory found in two layers comes once, at the more trusted.

        Args:
            query: A question or words.
            max_tokens: Most tokens of the block.
            limit: Most snippets.
            as_of: What was true in the world at that time; now where not given.
            known_at: What the store believed at that time; what it believes now where not given.
            include_private: Whether private memories may be among them.
            project: A namespace to read beside the handle's own.

        Raises:
            InvalidInputError: The project is blank or no text, or the query is blank or too long.
        """
        named = None if project is None else check_project(project)
        return prime(
            own=self._project,
            named=named,
            limit=check_count(limit, name="limit", most=self.config.search.max_limit),
            max_tokens=check_count(max_tokens, name="max_tokens", most=_MAX_TOKENS),
            find=lambda name: (
                self.recall(
                    query,
                    limit=limit,
                    as_of=as_of,
                    known_at=known_at,
                    include_private=include_private,
                    project=name,
                ).hits
            ),
        )

    def get(self, id: str) -> Chunk:
        """Return one chunk or memory, whatever its state.

        Args:
            id: Its id.

        Raises:
            NotFoundError: There is none.
        """
        found = self._use().graph.chunks([id])
        if not found:
            raise NotFoundError(f"{id[:80]!r}: no chunk has this id")
        return found[0]

    def memories(
        self,
        *,
        kinds: Sequence[ChunkKind] = ("note", "fact", "event", "turn"),
        states: Sequence[State] = (),
        scope: str | None = None,
        session: str | None = None,
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
            as_of: Those true in the world at that time; now where not given.
            known_at: Those the store believed at that time; what it believes now where not given.
            limit: Most rows to return.
            offset: Rows to pass over.
            project: Namespace to read; the handle's own where not given.
        """
        name = self._name(project)
        where = ChunkFilter(
            projects=(name,),
            kinds=check_choices(kinds, get_args(ChunkKind), name="kinds"),
            states=check_choices(states, get_args(State), name="states") or _states(as_of, known_at),
            scope=None if scope is None else check_scope(scope),
            sessions=() if session is None else (lists.session_key(name, session),),
            at=_when(as_of, "as_of") or (None if states else now()),
            known_at=_when(known_at, "known_at"),
        )
        return self._use().graph.list_chunks(where, _page(limit, offset))

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
            _page(limit, offset),
            states=_states(None, known_at),
            known_at=_when(known_at, "known_at"),
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
        return lists.document(
            self._use().graph,
            source,
            project=self._name(project),
            states=_states(None, known_at),
            known_at=_when(known_at, "known_at"),
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
        return self._use().graph.list_sessions(self._name(project), _page(limit, offset))

    def entities(
        self,
        *,
        containing: str | None = None,
        type: str | None = None,
        limit: int = 50,
        offset: int = 0,
        project: str | None = None,
    ) -> tuple[Entity, ...]:
        """List named things, most mentioned first.

        Args:
            containing: Only names that contain this text.
            type: Only entities of this type.
            limit: Most rows to return.
            offset: Rows to pass over.
            project: Namespace to read; the handle's own where not given.
        """
        return self._use().graph.list_entities(
            self._name(project), _page(limit, offset), containing=containing, type=type
        )

    def relations(
        self,
        entity: str | None = None,
        *,
        type: str | None = None,
        as_of: When | None = None,
        known_at: When | None = None,
        limit: int = 50,
        offset: int = 0,
        project: str | None = None,
    ) -> tuple[RelationView, ...]:
        """List relations with their ends named, newest first.

        Args:
            entity: Only relations with this name or alias at one end.
            type: Only relations of this type.
            as_of: Those true in the world at that time; now where not given.
            known_at: Those the store believed at that time; what it believes now where not given.
            limit: Most rows to return.
            offset: Rows to pass over.
            project: Namespace to read; the handle's own where not given.

        Raises:
            NotFoundError: No entity has that name.
        """
        store = self._use()
        return lists.relations(
            entity,
            project=self._name(project),
            type=type,
            states=_states(as_of, known_at),
            at=_when(as_of, "as_of") or now(),
            known_at=_when(known_at, "known_at"),
            page=_page(limit, offset),
            graph=store.graph,
            snapshots=store.snapshots,
        )

    def history(self, id: str, *, project: str | None = None) -> History:
        """Return the life of one thing, oldest first: what changed, when, by whom and why.

        Args:
            id: Id of a memory, chunk, document, entity or relation.
            project: Namespace in which a relation is looked for first; the handle's own where not given.

        Raises:
            NotFoundError: Nothing has that id, and nothing had.
        """
        store, name = self._use(), self._name(project)
        return history(id, graph=store.graph, snapshot=lambda: store.snapshots.of(name))

    def expand(
        self,
        starts: Sequence[str],
        *,
        depth: int = 2,
        limit: int = 10,
        max_tokens: int = 2000,
        as_of: When | None = None,
        known_at: When | None = None,
        include_private: bool = True,
        project: str | None = None,
    ) -> Surroundings:
        """Return what lies around entities and chunks: the best of each, with the steps that lead there.

        Args:
            starts: Names or aliases of entities, and ids of chunks, such as those of hits.
            depth: Most steps to go, over relations, mentions and links, 1 to 5.
            limit: Most entities, and most chunks, to return.
            max_tokens: Most tokens of the chunks' texts together.
            as_of: What was true in the world at that time; now where not given.
            known_at: What the store believed at that time; what it believes now where not given.
            include_private: Whether private memories may be shown or passed.
            project: Namespace to read; the handle's own where not given.

        Raises:
            NotFoundError: A start is no entity and no chunk of the project.
        """
        return explore.expand(
            _starts(starts),
            depth=check_count(depth, name="depth", most=5),
            limit=check_count(limit, name="limit", most=_MAX_PAGE),
            max_tokens=check_count(max_tokens, name="max_tokens", most=10**6),
            graph=self._use().graph,
            seen=self._view(project, as_of, known_at, include_private=include_private),
        )

    def neighbors(
        self,
        entity: str,
        *,
        depth: int = 1,
        limit: int = 20,
        as_of: When | None = None,
        known_at: When | None = None,
        project: str | None = None,
    ) -> tuple[Neighbor, ...]:
        """Return the entities around one, nearest first, with the steps that lead to each.

        Args:
            entity: Name or alias of the entity to start from.
            depth: Most relations to cross, 1 to 5.
            limit: Most entities to return.
            as_of: What was true in the world at that time; now where not given.
            known_at: What the store believed at that time; what it believes now where not given.
            project: Namespace to read; the handle's own where not given.

        Raises:
            NotFoundError: No entity has that name.
        """
        return explore.neighbors(
            entity,
            depth=check_count(depth, name="depth", most=5),
            limit=check_count(limit, name="limit", most=_MAX_PAGE),
            seen=self._view(project, as_of, known_at),
        )

    def path(
        self,
        start: str,
        end: str,
        *,
        max_steps: int = 6,
        count: int = 1,
        as_of: When | None = None,
        known_at: When | None = None,
        project: str | None = None,
    ) -> Path:
        """Return the shortest way between two entities, through relations and shared chunks.

        Args:
            start: Name or alias of the one.
            end: Name or alias of the other.
            max_steps: Longest way to look for, 1 to 12.
            count: How many of the best ways to look for, 1 to 10; those after the first are in `others`.
            as_of: What was true in the world at that time; now where not given.
            known_at: What the store believed at that time; what it believes now where not given.
            project: Namespace to read; the handle's own where not given.

        Raises:
            NotFoundError: No entity has one of the names. That no way joins them is a value, not an error.
        """
        return explore.path(
            start,
            end,
            max_steps=check_count(max_steps, name="max_steps", most=12),
            count=check_count(count, name="count", most=10),
            graph=self._use().graph,
            seen=self._view(project, as_of, known_at),
        )

    def central(
        self,
        *,
        by: overview.Measure = "pagerank",
        type: str | None = None,
        limit: int = 20,
        as_of: When | None = None,
        known_at: When | None = None,
        project: str | None = None,
    ) -> tuple[CentralEntity, ...]:
        """Return the entities that the graph turns around, most central first.

        Args:
            by: What to order by: pagerank, relations (how many it has) or chunks (how many mention it).
            type: Only entities of this type.
            limit: Most entities to return.
            as_of: What was true in the world at that time; now where not given.
            known_at: What the store believed at that time; what it believes now where not given.
            project: Namespace to read; the handle's own where not given.
        """
        return overview.central(
            by=check_choice(by, get_args(overview.Measure), name="by"),
            type=type,
            limit=check_count(limit, name="limit", most=_MAX_PAGE),
            seen=self._view(project, as_of, known_at),
        )

    def communities(
        self,
        *,
        limit: int = 20,
        members: int = 20,
        resolution: float = 1.0,
        as_of: When | None = None,
        known_at: When | None = None,
        project: str | None = None,
    ) -> tuple[Community, ...]:
        """Return the groups that entities fall into by how they hang together, largest first.

        The same graph gives the same groups, whenever and wherever it is asked.

        Args:
            limit: Most communities to return.
            members: Most members of each to name.
            resolution: Above 1 for more and smaller groups, below 1 for fewer and larger; 0.01 to 100.
            as_of: What was true in the world at that time; now where not given.
            known_at: What the store believed at that time; what it believes now where not given.
            project: Namespace to read; the handle's own where not given.
        """
        return overview.communities(
            limit=check_count(limit, name="limit", most=_MAX_PAGE),
            members=check_count(members, name="members", most=_MAX_PAGE),
            resolution=check_within(resolution, name="resolution", least=0.01, most=100),
            seen=self._view(project, as_of, known_at),
        )

    def graph(
        self,
        center: str | None = None,
        *,
        depth: int = 2,
        limit: int = 200,
        chunks: bool = True,
        as_of: When | None = None,
        known_at: When | None = None,
        project: str | None = None,
    ) -> GraphView:
        """Return a part of the graph as nodes and edges to draw.

        Args:
            center: Name or alias of the entity it lies around; the best connected part of the project
                where not given.
            depth: Most steps from the centre, 1 to 5.
            limit: Most nodes; the nearest and best connected stay.
            chunks: Whether chunks are shown, or entities and their relations alone.
            as_of: What was true in the world at that time; now where not given.
            known_at: What the store believed at that time; what it believes now where not given.
            project: Namespace to read; the handle's own where not given.

        Raises:
            NotFoundError: No entity has that name.
        """
        return overview.graph_view(
            center,
            depth=check_count(depth, name="depth", most=5),
            limit=check_count(limit, name="limit", most=10_000),
            chunks=chunks,
            graph=self._use().graph,
            seen=self._view(project, as_of, known_at),
        )

    # Check --------------------------------------------------------------------------------------

    def conflicts(
        self,
        entity: str | None = None,
        *,
        limit: int = 20,
        include_private: bool = True,
        project: str | None = None,
    ) -> Conflicts:
        """Find what contradicts what: relations and sentences that cannot both be true, with both sides.

        Relations clash where their type has one object at a time (`verification.functional`, and types
        that the project's own relations show to be so) and both hold at one moment. Sentences clash where
        they differ in one number, date, name or negation that tells of the same thing. Where a generator of
        the role `verify` is configured, it reads what these rules found. Nothing is changed.

        Args:
            entity: Name or alias that it is about; the whole project where not given.
            limit: Most conflicts to return.
            include_private: Whether sentences of private memories are compared.
            project: Namespace to read; the handle's own where not given.

        Raises:
            NotFoundError: No entity has that name.
        """
        store = self._use()
        snapshot = store.snapshots.of(self._name(project))
        return conflicts(
            None if entity is None else lists.find_entity(snapshot, entity),
            snapshot=snapshot,
            graph=store.graph,
            settings=store.config.verification,
            generator=self._generator("verify"),
            limit=check_count(limit, name="limit", most=_MAX_PAGE),
            include_private=include_private,
        )

    def verify(
        self,
        subject: str | None = None,
        type: str | None = None,
        object: str | None = None,
        *,
        limit: int = 100,
        project: str | None = None,
        progress: Callable[[int, int], None] | None = None,
    ) -> Verified:
        """Judge relations by the graph around them and their evidence; a model reads what that leaves open.

        With a subject, its relations, or those of a type or with an object; without, the relations that
        wait for a decision, those that wait longest first. What is decided is stored, and what is
        rejected goes to the archive. A claim that is not stored is judged by the passages that mention
        both of its ends, and nothing is written. Without a model, or over its cap, what is open stays
        deferred, and `reasons` says why.

        Args:
            subject: Name or alias of an entity; the waiting relations where not given.
            type: Only relations of this type.
            object: Only relations to this entity.
            limit: Most relations to judge.
            project: Namespace to verify in; the handle's own where not given.
            progress: Called with claims that a model has read and those that it is to read.

        Raises:
            InvalidInputError: A type or object without a subject, or a claim of one thing about itself.
            NotFoundError: No entity has one of the names.
        """
        store, name = self._use(), self._name(project)
        return check(
            Asked(subject=subject, type=type, object=object, limit=_limit(limit)),
            project=name,
            judge=self._judge(project),
            graph=store.graph,
            mirror=store.mirror,
            progress=progress,
        )

    # Tend ---------------------------------------------------------------------------------------

    def calibrate(
        self,
        labels: str | None = None,
        *,
        export: str | None = None,
        max_false_accept: float | None = None,
        dry_run: bool = False,
        revert: bool = False,
        project: str | None = None,
    ) -> Calibrated:
        """Fit verification to the project: learn from people's reviews and from models that read evidence.

        What the first stage decided itself is never learned from. The weights that serve are measured on
        labels that they were not fitted to, and stay where others do no better. Reviews are stored as
        verdicts: what a person called true is verified, what a person called false is archived.

        Args:
            labels: A file of reviews to store first, JSON lines such as `export` writes, or with `subject`,
                `type` and `object`, `label` (true or false), `reviewer`, `at` and `note`.
            export: Write the relations whose review tells most to this new file, and do nothing else.
            max_false_accept: Largest share of false relations among those accepted without a model, such as
                0.05; sets the accept threshold. Where not given, what was asked for last.
            dry_run: Say what would be done, and write nothing.
            revert: Go back to what served before the last calibration, in the end to what is shipped.
            project: Namespace to calibrate; the handle's own where not given.

        Raises:
            InvalidInputError: A line of the file is wrong, the export's file exists, or there is nothing to
                go back from; nothing is written.
            StorageError: The calibration cannot be read or written; what served before serves.
        """
        store, target = self._use(), self._target(project)
        place = Place(
            target=target,
            snapshot=store.snapshots.of(target.project),
            calibrations=store.calibrations,
            settings=store.config.verification,
        )
        wanted = Wanted(
            labels=labels, export=export, max_false_accept=max_false_accept, dry_run=dry_run, revert=revert
        )
        return tend(place, wanted)

    def stats(self) -> Stats:
        """Say what the store holds, with which engine and models, and how much disk it takes."""
        store = self._use()
        generator = self._generator("extract")
        return lists.stats(
            store.path, store.graph, store.embedder, generator=None if generator is None else generator.name
        )

    def doctor(self, *, fix: bool = False, progress: Callable[[int, int], None] | None = None) -> Diagnosis:
        """Prove that graph and vectors agree, row by row; where they do not, rebuild from the graph.

        Args:
            fix: Repair what is found; a damaged vectors folder is put aside, never deleted.
            progress: Called with rows rebuilt and rows to rebuild.
        """
        return self._use().diagnose(fix=fix, progress=progress)

    def reindex(
        self, model: str | None = None, *, progress: Callable[[int, int], None] | None = None
    ) -> Reindexed:
        """Move the store to the vectors of another embedder, in place; the old ones serve until it is done.

        What is interrupted goes on where it stopped when it is called again with the same model; with the
        store's own model it is given up. Memories written meanwhile are there afterwards.

        Args:
            model: Name of the model, also as NAME/DIMENSION, ollama:NAME or openai:NAME; where not given,
                what `embedding` configures, and for `auto` the best on this machine.
            progress: Called with rows done and rows to do.

        Raises:
            ConfigError: There is no such model.
            ModelError: The model is not on this machine, or it failed; the old vectors serve.
            StorageError: A store failed, or the vectors are damaged and the model is the store's own.
        """
        store = self._use()
        configured = store.config.embedding
        done = store.reindex(choose_next_embedder(configured, model), progress=progress)
        return replace(done, notes=still_to_configure(configured, done.after))

    # --------------------------------------------------------------------------------------------

    def _use(self) -> opened.OpenStore:
        self._opened.check_usable(closed=self._closed)
        return self._opened

    def _name(self, project: str | None) -> str:
        return self._project if project is None else check_project(project)

    def _judge(self, project: str | None) -> Judge:
        store, name = self._use(), self._name(project)
        serving = store.calibrations.of(name)
        return Judge(
            snapshot=lambda: store.snapshots.of(name),
            generator=lambda: self._generator("verify"),
            weights=serving.weights,
            settings=serving.applied_to(store.config.verification),
            replies=store.replies,
        )

    def _curated(self, target: CuratedTarget, project: str) -> CuratedPlace:
        store = self._use()
        return CuratedPlace(
            folder=store.curated_folder,
            project=project,
            target=check_choice(target, get_args(CuratedTarget), name="target"),
            settings=store.config.memory,
        )

    def _target(self, project: str | None, accept: Accept | None = None) -> Target:
        store, name = self._use(), self._name(project)
        space = store.space
        return Target(
            project=name,
            graph=store.graph,
            commit=store.committing(space),
            one_writer=store.mirror.one_writer,
            embed=space.embedder.embed_documents,
            known=lambda keys: store.snapshots.of(name).names.lookup(keys),
            accept=accept or (lambda candidates: self._judge(project)(candidates).verdicts),
        )

    def _view(
        self,
        project: str | None,
        as_of: When | None,
        known_at: When | None,
        *,
        include_private: bool = True,
    ) -> View:
        return view(
            self._use().snapshots.of(self._name(project)),
            states=_states(as_of, known_at),
            at=_when(as_of, "as_of") or now(),
            known_at=_when(known_at, "known_at"),
            include_private=include_private,
        )

    def _generator(self, role: str) -> Generator | None:
        return self._given_generator or choose_generator(self._opened.config.llm, role)


def _when(value: When | None, name: str) -> datetime | None:
    return None if value is None else parse_when(value, name=name)


def _states(as_of: When | None, known_at: When | None) -> tuple[State, ...]:
    """Past times widen the states: what is superseded was true, what is archived was believed."""
    if known_at is not None:
        return ("active", "superseded", "archived")
    return LIVE if as_of is None else ("active", "superseded")


def _tokens(most: int | None) -> int | None:
    return None if most is None else check_count(most, name="max_tokens", most=_MAX_TOKENS)


def _limit(limit: int) -> int:
    return check_count(limit, name="limit", most=_MAX_PAGE)


def _page(limit: int, offset: int) -> Listing:
    return Listing(
        limit=check_count(limit, name="limit", most=_MAX_PAGE),
        offset=check_count(offset, name="offset", least=0, most=2**53),
    )


def _starts(starts: Sequence[str]) -> tuple[str, ...]:
    named = _ids(starts)
    check_count(len(named), name="number of starts", most=_MAX_STARTS)
    return named


def _ids(ids: Sequence[str]) -> tuple[str, ...]:
    return (ids,) if isinstance(ids, str) else tuple(ids)
