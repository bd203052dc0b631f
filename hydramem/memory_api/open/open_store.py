"""One open store: its graph, vectors, models, snapshots and jobs."""

import logging
import os
import tempfile
import threading
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, ExitStack
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from hydramem.core.config import Config
from hydramem.core.errors import (
    ConfigError,
    EmbeddingMismatchError,
    InvalidInputError,
    ModelError,
    ModelUnavailableError,
    StorageError,
)
from hydramem.core.project_bounds import bounds
from hydramem.core.results.erasure_results import ErasureReceipt
from hydramem.core.results.upkeep_results import BackedUp, Diagnosis, Reindexed
from hydramem.core.settings.environment import make_store_folder, storage_address
from hydramem.core.time import advance_past, clock_warning, now
from hydramem.erase.switch import finish as finish_erase
from hydramem.erase.switch import is_unfinished as erase_is_unfinished
from hydramem.graph.snapshot.registry import Snapshots
from hydramem.ingest.items.item_index import ItemIndex
from hydramem.ingest.pending_jobs import missing_jobs
from hydramem.ingest.write_target import Commit
from hydramem.llm.choose import AbsentEmbedder, choose_embedder
from hydramem.llm.contracts import Embedder
from hydramem.llm.pair_classifier import shared_classifier
from hydramem.memory_api.open.embedder_change import EmbedderChange
from hydramem.memory_api.open.kept_answers import KeptAnswers
from hydramem.memory_api.open.lost_graph import missing_graph, require_no_loss
from hydramem.memory_api.open.other_processes import OtherProcesses
from hydramem.memory_api.open.serving_vectors import Serving, Space
from hydramem.memory_api.open.vector_tables import vector_folders_of
from hydramem.memory_api.open.write_groups import WriteGroups
from hydramem.search.curated_entries import CuratedFiles
from hydramem.search.relevance.relevance_anchors import AnchorsByEmbedder
from hydramem.storage.backup.backup import backup
from hydramem.storage.backup.restore import finish as finish_restore
from hydramem.storage.backup.restore import is_unfinished as restore_is_unfinished
from hydramem.storage.bounded_graph import seen_in_bounds
from hydramem.storage.cypher.schema_statements import mark_folder
from hydramem.storage.files.curated_files import SessionBlocks
from hydramem.storage.files.folder_lock import LOCK, FolderLock
from hydramem.storage.files.read_only import is_read_only, lock_for_reading, read_only_error
from hydramem.storage.jobs import Jobs
from hydramem.storage.outbox import Mirror
from hydramem.storage.recall_log import Recalls
from hydramem.storage.repair.doctor import Progress, diagnose
from hydramem.storage.repair.reindex import DIMENSION, EMBEDDER
from hydramem.storage.store import GraphStore
from hydramem.storage.vector_rows import Vector, VectorStore
from hydramem.storage.write import Write
from hydramem.storage.writing.answers import Answers
from hydramem.telemetry.observed_results import stored_memories
from hydramem.telemetry.recorder import FILE as TELEMETRY
from hydramem.telemetry.recorder import Telemetry
from hydramem.verification.calibration.saved_calibrations import Calibrations
from hydramem.verification.calibration.saved_thresholds import Bounds
from hydramem.verification.first_stage.weights import DEFAULT
from hydramem.verification.grounding.model_replies import Replies

if TYPE_CHECKING:
    from hydramem.erase.erasure import ErasureRequest
    from hydramem.ingest.memories.remember_group import GroupMember

log = logging.getLogger(__name__)
_REPAIRING = "repairing_vectors"  # in the graph's metadata while a repair may have left a part of the vectors


class OpenStore:
    """The stores of one folder with their models and snapshots; it counts its handles."""

    def __init__(
        self,
        path: Path,
        config: Config,
        embedder: Embedder | None,
        *,
        reindexing: bool = False,
        salvage: bool = False,
    ) -> None:
        self.path = path
        self.config = config
        self.read_only = self.has_graph_file and is_read_only(path) and (path / "graph").is_dir()
        self.given_embedder = embedder
        self.judge = shared_classifier()
        self.handles = 1
        # What is called before and after the last handle closes the store: other processes may be served.
        self.at_last_close: tuple[Callable[[], None], Callable[[], None]] = (lambda: None, lambda: None)
        # Two concurrent ingests of one document would both count its mentions.
        self.one_ingest = threading.Lock()
        self.one_garden_run = threading.Lock()
        self.groups: WriteGroups[GroupMember] = WriteGroups(wait_seconds=config.sharing.wait_seconds)
        self._session_locks: dict[str, threading.Lock] = {}
        self._one_backup = threading.Lock()
        self._pid = os.getpid()
        # Closes every part, also where one fails: a remaining lock would block every process.
        self._closing = ExitStack()
        try:
            self._open(embedder, reindexing, salvage)
        except BaseException:
            self.close()
            raise

    def _open(self, embedder: Embedder | None, reindexing: bool, salvage: bool) -> None:
        self._prepare_folder()
        self.lost_file = None if self.in_memory else missing_graph(self.path, self.config, salvage=salvage)
        self._graph: GraphStore = _open_graph(
            self.path, self.config, salvage=salvage, read_only=self.read_only
        )
        self._closing.callback(self._graph.close)
        agreed = self._agree_on_embedder(embedder, reindexing)
        self._folders = vector_folders_of(self.path, self.config, self._graph)
        self._serving = Serving(self._folders.open(agreed))
        self._closing.callback(self._serving.close)
        self.snapshots = Snapshots(self._graph)
        self.items = ItemIndex(self._graph)
        self.telemetry = Telemetry(
            None if self.in_memory else self.path / TELEMETRY,
            self.config.telemetry,
            self.snapshots.loaded,
            read_only=self.read_only,
        )
        self._closing.callback(self.telemetry.close)
        self.replies = Replies(None if self.in_memory else self.path / "models" / "vog_replies.db")
        self._closing.callback(self.replies.close)
        self.calibrations = Calibrations(None if self.in_memory else self.path, DEFAULT.names)
        self.bounds = Bounds(None if self.in_memory else self.path)
        self.anchors = AnchorsByEmbedder(None if self.in_memory else self.path)
        self.curated_blocks = SessionBlocks()
        self.files = self._files()
        self.curated_folder = self.files / "curated"
        self.curated = CuratedFiles(
            self.curated_folder, self.config.memory, most_tokens=self.config.ingest.chunk_tokens
        )
        self.mirror = Mirror(
            self._graph,
            lambda: self.vectors,
            lambda texts: self.embedder.embed_documents(texts),
            self._note_commit,
            self._reload_snapshots,
        )
        self._closing.callback(self.mirror.close)
        self._embedder_change = EmbedderChange(
            path=self.path,
            files=self.files,
            graph=self._graph,
            mirror=self.mirror,
            serving=self._serving,
            folders=self._folders,
        )
        self.answers = Answers(self._graph, self.mirror)
        self.jobs = Jobs(self._graph, self.mirror.commit, self.mirror.one_writer.of)
        self.recalls = Recalls(self._graph, self.mirror.commit, self.mirror.one_writer.of)
        self.kept = KeptAnswers(lambda: self.mirror.writes if self.mirror.is_replicated else None)
        self._closing.callback(self.recalls.close)
        self._closing.callback(self.jobs.close)  # closed first, since jobs use the rest
        last = self._graph.last_change_at()
        if last is not None:
            advance_past(last)
            if warning := clock_warning(last):
                log.warning("%s: %s", self.path, warning)
        self._others = self._follow_others()
        if self.read_only:
            self.recalls.close()  # what is recalled cannot be recorded
        if not isinstance(self.space.held, StorageError):
            self._replicate_what_is_pending()
            if not salvage:
                require_no_loss(self.path, self._graph, self.vectors)
                if not self.read_only:
                    self._folders.remove_leftovers()

        if not (self.read_only or salvage) and self._graph.meta().get(_REPAIRING):
            self._continue_repair()

    def _continue_repair(self) -> None:
        """Finish a repair of the vectors whose process died, and which left a part of them."""
        log.warning("%s: a repair of the vectors was interrupted; it is continued", self.path)
        try:
            self.diagnose(fix=True, progress=None)
        except ModelError as error:
            log.warning("%s: %s; `hydramem doctor --fix` continues the repair", self.path, error)

    def _replicate_what_is_pending(self) -> None:
        if not self.read_only:
            self.mirror.catch_up()
        elif pending := len(self._graph.outbox()):
            log.warning("%s: is read-only; recall misses the last %d writes", self.path, pending)

    def _files(self) -> Path:
        """Return the folder of the store's plain files; a temporary one for a store in memory."""
        if not self.in_memory:
            return self.path
        scratch = tempfile.TemporaryDirectory(prefix="hydramem-")
        self._closing.callback(scratch.cleanup)
        return Path(scratch.name)

    def session_lock(self, session: str) -> threading.Lock:
        """Return the lock under which a session is distilled, by its id."""
        return self._session_locks.setdefault(session, threading.Lock())

    def _prepare_folder(self) -> None:
        if self.in_memory:
            return
        if self.read_only:
            self._closing.callback(lock_for_reading(self.path, LOCK))
            if restore_is_unfinished(self.path) or erase_is_unfinished(self.path):
                raise read_only_error(self.path)
            return
        try:
            make_store_folder(self.path)
        except OSError as error:
            raise StorageError(f"{self.path}: cannot be created: {error.strerror}") from error
        lock = FolderLock(self.path)
        lock.acquire()
        self._closing.callback(lock.release)
        finish_restore(self.path)
        if finish_erase(self.path):
            log.warning("%s: an erase that was interrupted is finished", self.path)

    def _agree_on_embedder(self, given: Embedder | None, reindexing: bool) -> Embedder:
        stored = self._graph.meta().get(EMBEDDER)
        if reindexing and given is None and stored is not None:
            return self._stored_embedder(stored)
        embedder = given or choose_embedder(self.config.embedding, stored=stored)
        if stored is None:
            self._graph.set_meta({EMBEDDER: embedder.fingerprint, DIMENSION: str(embedder.dimension)})
        elif stored != embedder.fingerprint:
            raise EmbeddingMismatchError(
                f"{self.path}: holds vectors of {stored}, not of {embedder.fingerprint}; open it "
                "with embedding.model: auto, or change its vectors with `hydramem reindex --model NAME`"
            )
        return embedder

    def _stored_embedder(self, stored: str) -> Embedder:
        """Return the store's own embedder, or a placeholder where it is not available."""
        configured = self.config.embedding
        for settings in (configured, replace(configured, provider="local", model="auto", dimension=0)):
            try:
                return choose_embedder(settings, stored=stored)
            except (EmbeddingMismatchError, ConfigError, ModelUnavailableError) as error:
                reason = error
        return AbsentEmbedder(stored, int(self._graph.meta()[DIMENSION]), reason)

    @property
    def in_memory(self) -> bool:
        """Whether the store is in memory and nothing is kept."""
        return self.config.storage.graph == "memory"

    @property
    def has_graph_file(self) -> bool:
        """Whether the graph is a file in the folder, and not in memory or on a server."""
        return self.config.storage.graph not in ("memory", "postgres")

    @property
    def graph(self) -> GraphStore:
        """The graph store, as a call sees it that may touch some projects only."""
        return seen_in_bounds(self._graph)

    @property
    def space(self) -> Space:
        """The embedder and its vectors; use `reading` to search them."""
        return self._serving.current

    def reading(self) -> AbstractContextManager[Space]:
        """Hold the embedder and its vectors open for a read."""
        self.mirror.replicate_for_search()
        return self._serving.reading()

    @property
    def embedder(self) -> Embedder:
        """The embedder of the vectors in use."""
        return self.space.embedder

    @property
    def vectors(self) -> VectorStore:
        """The vector store; hold the writer lock, or read it through `reading`.

        Raises:
            StorageError: It is damaged or missing; the message says how to rebuild it.
        """
        return self.space.vectors

    def committing(self, space: Space) -> Commit:
        """Return the commit for vectors of a space; they are computed again if another is in use by then."""

        def commit(write: Write, vectors: Mapping[str, Vector]) -> None:
            with self.mirror.writing(write):
                held = self.space
                if held.embedder is not space.embedder:
                    names = {row.id: row.name for row in write.entities if row.id in vectors}
                    vectors = self.mirror.embed_by_id(names)
                self.mirror.commit(write, vectors)

        return commit

    def check_usable(self, *, closed: bool) -> None:
        """Raise StorageError where this handle cannot be used, or the store's vectors not any more."""
        if os.getpid() != self._pid:
            raise StorageError(
                f"{self.path}: was opened before a fork; connect again in the child, or spawn it"
            )
        if closed:
            raise StorageError(f"{self.path}: this handle is closed; connect again")
        if self._others is not None:
            self._others.require_embedder()

    def require_writable(self) -> None:
        """Raise ReadOnlyError where the store's folder cannot be written."""
        if self.read_only:
            raise read_only_error(self.path)

    def diagnose(self, *, fix: bool, salvage: bool = False, progress: Progress | None) -> Diagnosis:
        """Compare graph and vectors; with `fix`, move a damaged vectors folder aside and rebuild it."""
        if fix or salvage:
            self.require_writable()
        with self.mirror.one_writer:
            self.mirror.replicate_deferred()
            damage = self.space.damage()
            mended = None
            if fix or salvage:
                self._graph.set_meta({_REPAIRING: "yes"})
                if damage is not None and self.space.mended():
                    mended = f"indices of the vectors were made anew, because: {damage}"
                elif damage is not None:
                    self._renew_vectors(damage)
            elif damage is not None:
                return self._diagnosis_of_damage(damage)
            found = diagnose(
                self._graph,
                self.vectors,
                self.mirror,
                fix=fix,
                salvage=salvage,
                folder=self.files,
                progress=progress,
            )
            if fix or salvage:
                jobs = missing_jobs(self.vectors.chunks_without_vector(), self._graph)
                self.mirror.commit(Write(changes=(), jobs=jobs))
                self._graph.set_meta({_REPAIRING: ""})
        lost_file = found.lost_file or (None if self.lost_file is None else str(self.lost_file))
        from hydramem.ingest.memories.emptied_curated_files import emptied_files

        last = self._graph.last_change_at()
        ahead = None if last is None else clock_warning(last)
        return replace(
            found,
            lost_file=lost_file,
            unfinished_reindex=self._folders.target,
            warnings=(*filter(None, (ahead, mended)), *emptied_files(self.curated_folder, self._graph)),
            telemetry=self.telemetry.state,
        )

    def _renew_vectors(self, damage: StorageError) -> None:
        """Put an empty folder of vectors in the place of a damaged one; what reads meanwhile is told so."""
        damaged = self.space
        self._serving.replace(replace(damaged, held=damage))
        self._serving.retire(damaged)  # its upkeep must not find the new files
        self._serving.replace(self._folders.renew(self.space))

    def back_up(self, to: Path | None, *, created_by: str) -> BackedUp:
        """Write a backup while others read and write; `garden.backups` limits the store's own backups.

        Raises:
            InvalidInputError: The file exists, or the store is in memory or on PostgreSQL.
            StorageError: It cannot be written.
        """
        if self.config.storage.graph == "postgres":
            raise InvalidInputError(
                "backup: a memory on PostgreSQL is backed up with pg_dump; `hydramem dump FOLDER` writes "
                "what it holds"
            )
        if to is None:
            self.require_writable()
        self.recalls.flush()
        with self._one_backup:
            return backup(
                self.path,
                self._graph.save,
                engine=self._graph.engine,
                created_by=created_by,
                made_at=now(),
                to=to,
                keep=self.config.garden.backups,
            )

    def check_vectors(self) -> None:
        """Raise StorageError where the vectors cannot be read, and so not be copied."""
        self.vectors.stats()

    def erase_in_memory(self, request: "ErasureRequest") -> ErasureReceipt:
        """Erase from a store in memory, which has no files but its plain ones."""
        from hydramem.erase.erase import erase_in_memory
        from hydramem.storage.in_memory.graph import InMemoryGraph

        with self.mirror.one_writer:
            self.mirror.drain()
            graph, fresh = self._graph, self._folders.empty(self.space)
            if not isinstance(graph, InMemoryGraph):
                raise StorageError(f"{self.path}: is not in memory")
            projects = {view.name for view in graph.projects()}
            self.replies.close()  # those in memory go with it
            receipt = erase_in_memory(graph, self.vectors, fresh.vectors, self.files, request)
            self._serving.replace(fresh)
            for project in projects:
                self.snapshots.forget(project)
        return receipt

    @property
    def embedder_change(self) -> EmbedderChange:
        """What moves the store to other vectors.

        Raises:
            ReadOnlyError: The store's folder cannot be written.
        """
        self.require_writable()
        return self._embedder_change

    def reindex(self, embedder: Embedder, *, progress: Progress | None) -> Reindexed:
        """Move the store to the vectors of another embedder; see `EmbedderChange.to`."""
        return self.embedder_change.to(embedder, progress=progress)

    def _note_commit(self, write: Write) -> None:
        self.snapshots.apply(write)
        self.items.apply(write)
        self.jobs.noticed(write)
        self.telemetry.count(stored_memories(write))

    def _follow_others(self) -> OtherProcesses | None:
        """Keep what is in memory current where other processes write to the same graph."""
        if self.config.storage.graph != "postgres":
            return None
        from hydramem.storage.postgres.graph.graph import PostgresGraph

        if not isinstance(self._graph, PostgresGraph):
            return None
        others = OtherProcesses(
            path=self.path,
            graph=self._graph,
            mirror=self.mirror,
            snapshots=self.snapshots,
            items=self.items,
            jobs=self.jobs,
            serving=self._serving,
            folders=self._folders,
            choose_embedder=lambda: self._agree_on_embedder(self.given_embedder, reindexing=False),
        )
        self._closing.callback(others.follow().close)
        others.notice_switch()
        return others

    def _reload_snapshots(self, write: Write) -> None:
        """Load the snapshots of a write's projects again: its commit outcome is unknown."""
        self.items.forget()
        rows = (write.changes, write.chunks, write.entities, write.relations)
        for project in {row.project for part in rows for row in part}:
            self.snapshots.forget(project)

    def _diagnosis_of_damage(self, problem: StorageError) -> Diagnosis:
        counts = self._graph.counts()
        return Diagnosis(
            healthy=False,
            chunks_in_graph=counts.chunks,
            chunks_in_vectors=0,
            entities_in_graph=counts.entities,
            entities_in_vectors=0,
            missing=counts.chunks + counts.entities,
            problems=(str(problem),),
            unfinished_reindex=self._folders.target,
            telemetry=self.telemetry.state,
        )

    def close(self) -> None:
        """Close everything in reverse order of opening; a second call does nothing."""
        if os.getpid() != self._pid:
            return  # only the parent process closes its stores
        self._closing.close()


def _open_graph(path: Path, config: Config, *, salvage: bool, read_only: bool) -> GraphStore:
    if config.storage.graph == "memory":
        from hydramem.storage.in_memory.graph import InMemoryGraph

        return InMemoryGraph()
    if config.storage.graph == "postgres":
        return _open_on_server(path, config)
    from hydramem.storage.cypher.graph import open_graph

    return open_graph(path / "graph", config.storage, salvage=salvage, read_only=read_only)


def _open_on_server(path: Path, config: Config) -> GraphStore:
    """Open the graph on PostgreSQL, and note that in the folder, which keeps what stays on this machine."""
    try:
        from hydramem.storage.postgres.connection import Database
        from hydramem.storage.postgres.graph.graph import open_postgres_graph
    except ModuleNotFoundError as error:
        raise ConfigError(
            f"storage.graph is postgres, which needs {error.name}; pip install 'hydramem[postgres]'"
        ) from None
    database = Database(storage_address(), schema=config.storage.database_schema, projects=bounds)
    graph = open_postgres_graph(database)
    (path / "graph").mkdir(exist_ok=True)
    mark_folder(path / "graph", graph.engine)
    return graph
