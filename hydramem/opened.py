"""One opened folder, shared by every handle of this process on the same real path."""

import logging
import os
import threading
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

from hydramem.core.config import Config
from hydramem.core.errors import EmbeddingMismatchError, StorageError
from hydramem.core.time import advance_past
from hydramem.core.types import Diagnosis
from hydramem.graph.snapshot import Snapshots
from hydramem.llm.choose import choose_embedder
from hydramem.llm.model import Embedder
from hydramem.storage.lock import FolderLock
from hydramem.storage.outbox import Mirror
from hydramem.storage.repair import Progress, diagnose
from hydramem.storage.store import GraphStore, VectorStore

log = logging.getLogger(__name__)

_EMBEDDER, _DIMENSION = "embedder", "dimension"


class OpenStore:
    """The stores of one folder, the models and the snapshots over them; counted by its handles."""

    def __init__(self, path: Path, config: Config, embedder: Embedder | None) -> None:
        self.path = path
        self.config = config
        self.handles = 1
        # Two ingests of one document at once would both count its mentions.
        self.one_ingest = threading.Lock()
        self._pid = os.getpid()
        self._closing: list[Callable[[], None]] = []
        try:
            self._open(embedder)
        except BaseException:
            self.close()
            raise

    def _open(self, embedder: Embedder | None) -> None:
        self._prepare_folder()
        self.graph: GraphStore = _open_graph(self.path, self.config)
        self._closing.append(self.graph.close)
        self.embedder = self._agree_on_embedder(embedder)
        self._vectors: VectorStore | StorageError = self._try_vectors()
        self.snapshots = Snapshots(self.graph)
        self.mirror = Mirror(
            self.graph, lambda: self.vectors, self.embedder.embed_documents, self.snapshots.apply
        )
        last = self.graph.last_change_at()
        if last is not None:
            advance_past(last)
        if not isinstance(self._vectors, StorageError):
            self.mirror.drain()

    def _prepare_folder(self) -> None:
        if self.in_memory:
            return
        try:
            self.path.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise StorageError(f"{self.path}: cannot be made: {error.strerror}") from error
        lock = FolderLock(self.path)
        lock.acquire()
        self._closing.append(lock.release)

    def _agree_on_embedder(self, given: Embedder | None) -> Embedder:
        stored = self.graph.meta().get(_EMBEDDER)
        embedder = given or choose_embedder(self.config.embedding, stored=stored)
        if stored is None:
            self.graph.set_meta({_EMBEDDER: embedder.fingerprint, _DIMENSION: str(embedder.dimension)})
        elif stored != embedder.fingerprint:
            raise EmbeddingMismatchError(
                f"{self.path}: holds vectors of {stored}, but {embedder.fingerprint} was asked for; "
                "open it with embedding.model: auto, or use a new folder"
            )
        return embedder

    def _try_vectors(self) -> VectorStore | StorageError:
        """Open the vectors; where they are damaged or gone, keep the error for whoever needs them."""
        try:
            vectors = _open_vectors(self.path, self.embedder.dimension, self.config)
        except EmbeddingMismatchError:
            raise
        except StorageError as error:
            log.warning("%s", error)
            return error
        self._closing.append(vectors.close)
        if vectors.stats().chunks == 0 and self.graph.counts().chunks > 0 and not self.graph.outbox():
            return StorageError(
                f"{self.path / 'vectors'}: is empty although the graph holds chunks; "
                "`hydramem doctor --fix` rebuilds it"
            )
        return vectors

    @property
    def in_memory(self) -> bool:
        """Whether nothing of this is kept."""
        return self.config.storage.graph == "memory"

    @property
    def vectors(self) -> VectorStore:
        """The vector store.

        Raises:
            StorageError: It is damaged or gone; the message says how to rebuild it.
        """
        if isinstance(self._vectors, StorageError):
            raise self._vectors
        return self._vectors

    def check_usable(self, *, closed: bool) -> None:
        """Raise StorageError where this handle cannot be used any more."""
        if os.getpid() != self._pid:
            raise StorageError(f"{self.path}: was opened before a fork; connect again in the child process")
        if closed:
            raise StorageError(f"{self.path}: this handle is closed; connect again")

    def diagnose(self, *, fix: bool, progress: Progress | None) -> Diagnosis:
        """Compare the stores; with `fix`, put a damaged vectors folder aside and rebuild it."""
        if isinstance(self._vectors, StorageError):
            if not fix:
                return self._ill(self._vectors)
            self._replace_vectors()
        return diagnose(self.graph, self.vectors, self.mirror, fix=fix, progress=progress)

    def _ill(self, problem: StorageError) -> Diagnosis:
        counts = self.graph.counts()
        return Diagnosis(
            healthy=False,
            chunks_in_graph=counts.chunks,
            chunks_in_vectors=0,
            entities_in_graph=counts.entities,
            entities_in_vectors=0,
            missing=counts.chunks + counts.entities,
            problems=(str(problem),),
        )

    def _replace_vectors(self) -> None:
        folder = self.path / "vectors"
        try:
            vectors = _open_vectors(self.path, self.embedder.dimension, self.config)
        except StorageError:
            # Damaged: kept beside the new one, because only a person can say that it is worth nothing.
            folder.rename(folder.with_name(f"vectors.damaged-{datetime.now(UTC):%Y%m%dT%H%M%S}"))
            vectors = _open_vectors(self.path, self.embedder.dimension, self.config)
        self._closing.append(vectors.close)
        self._vectors = vectors

    def close(self) -> None:
        """Release everything in reverse order of opening; harmless when repeated."""
        if os.getpid() != self._pid:
            return  # the parent's stores are the parent's to close
        while self._closing:
            self._closing.pop()()


def _open_graph(path: Path, config: Config) -> GraphStore:
    if config.storage.graph == "memory":
        from hydramem.storage.in_memory.graph import InMemoryGraph

        return InMemoryGraph()
    from hydramem.storage.cypher import open_graph

    return open_graph(path / "graph", config.storage)


def _open_vectors(path: Path, dimension: int, config: Config) -> VectorStore:
    if config.storage.graph == "memory":
        from hydramem.storage.in_memory.vectors import InMemoryVectors

        return InMemoryVectors(dimension)
    from hydramem.storage.lance import open_vectors

    return open_vectors(path / "vectors", dimension, config.storage)


_open: dict[Path, OpenStore] = {}
_registry = threading.Lock()


def acquire(path: Path, config: Config, embedder: Embedder | None) -> OpenStore:
    """Open a folder, or join the handle that this process already has on the same real path.

    Raises:
        EmbeddingMismatchError: The open handle, or the store, has another embedder than the one given.
        StoreBusyError: Another process holds the folder.
        StorageError: The folder or a store in it cannot be opened.
    """
    if config.storage.graph == "memory":
        return OpenStore(path, config, embedder)
    with _registry:
        store = _open.get(path)
        if store is None or store._pid != os.getpid():
            store = _open[path] = OpenStore(path, config, embedder)
            return store
        if embedder is not None and embedder.fingerprint != store.embedder.fingerprint:
            raise EmbeddingMismatchError(
                f"{path}: is open with {store.embedder.fingerprint}, not {embedder.fingerprint}"
            )
        store.handles += 1
        return store


def release(store: OpenStore) -> None:
    """Give one handle back; the last one closes the stores."""
    with _registry:
        store.handles -= 1
        if store.handles == 0:
            _open.pop(store.path, None)
            store.close()
