"""Which folder of vectors serves, which one a reindex is filling, and which are left over.

The graph's own facts say it, so that one write to the graph is the switch from one folder to another.
"""

import logging
import re
import shutil
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from hydramem.core.config import Config
from hydramem.core.errors import EmbeddingMismatchError, StorageError
from hydramem.llm.contracts import Embedder
from hydramem.storage.repair.reindex import DIMENSION, EMBEDDER, FIRST_FOLDER, FOLDER, TARGET, folder_name
from hydramem.storage.store import GraphStore, VectorStore


# Compared by identity: a folder that was rebuilt is another space to whoever reads it.
@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Space:
    """An embedder and the vectors that it made.

    Attributes:
        folder: Name of the folder of the vectors.
        held: The vectors, or why they cannot be had.
    """

    embedder: Embedder
    folder: str
    held: VectorStore | StorageError

    @property
    def vectors(self) -> VectorStore:
        """The vector store.

        Raises:
            StorageError: It is damaged or gone; the message says how to rebuild it.
        """
        if isinstance(self.held, StorageError):
            raise self.held
        return self.held

    def close(self) -> None:
        """Release the vectors; harmless when repeated."""
        if not isinstance(self.held, StorageError):
            self.held.close()


class Serving:
    """The space in use; another can take its place while reads of the old one finish."""

    def __init__(self, space: Space) -> None:
        self._changed = threading.Condition()
        self._current = space
        self._readers: Counter[Space] = Counter()

    @property
    def current(self) -> Space:
        """The space that serves now."""
        return self._current

    @contextmanager
    def reading(self) -> Iterator[Space]:
        """Hold the space that serves now: it stays open until this ends, even where another takes over."""
        with self._changed:
            space = self._current
            self._readers[space] += 1
        try:
            yield space
        finally:
            with self._changed:
                self._readers[space] -= 1
                if not self._readers[space]:
                    del self._readers[space]
                self._changed.notify_all()

    def replace(self, space: Space) -> None:
        """Let another space serve every read that begins from now on."""
        with self._changed:
            self._current = space

    def retire(self, space: Space) -> None:
        """Wait until nobody reads a space that no longer serves, and close it."""
        with self._changed:
            self._changed.wait_for(lambda: space not in self._readers)
        space.close()

    def close(self) -> None:
        """Release the space that serves."""
        self._current.close()


log = logging.getLogger(__name__)

_OURS = re.compile(rf"{FIRST_FOLDER}(-[0-9a-f]{{12}})?")


class VectorFolders:
    """The folders of vectors in a store.

    Args:
        path: The store.
        config: Its settings.
        graph: Keeps which folder serves, and where an unfinished reindex goes.
    """

    def __init__(self, path: Path, config: Config, graph: GraphStore) -> None:
        self._path = path
        self._config = config
        self._graph = graph

    @property
    def serving(self) -> str:
        """Name of the folder that serves."""
        return self._graph.meta().get(FOLDER, FIRST_FOLDER)

    @property
    def target(self) -> str | None:
        """Fingerprint that an unfinished reindex moves to."""
        return self._graph.meta().get(TARGET) or None

    def open(self, embedder: Embedder) -> Space:
        """Open the vectors that serve; where they are damaged or gone, keep the error for who needs them."""
        folder = self.serving
        try:
            held: VectorStore | StorageError = self._checked(folder, embedder)
        except EmbeddingMismatchError:
            raise
        except StorageError as error:
            log.info("%s", error)  # whoever needs them is told; a restore, or `doctor --fix`, rebuilds them
            held = error
        return Space(embedder=embedder, folder=folder, held=held)

    def renew(self, space: Space) -> Space:
        """Return a space whose vectors can be rebuilt: a damaged folder is put aside, an empty one opened."""
        folder = self._path / space.folder
        try:
            vectors = self._open(space.folder, space.embedder)
        except StorageError:
            # Damaged: kept beside the new one, because only a person can say that it is worth nothing.
            folder.rename(folder.with_name(f"vectors.damaged-{datetime.now(UTC):%Y%m%dT%H%M%S}"))
            vectors = self._open(space.folder, space.embedder)
        return replace(space, held=vectors)

    def prepare(self, embedder: Embedder) -> Space:
        """Open the folder that a reindex fills, with the rows that an unfinished one to it has left there."""
        self.aim_at(embedder.fingerprint)
        folder = folder_name(embedder.fingerprint)
        try:
            vectors = self._open(folder, embedder)
        except StorageError as error:
            # What a kill left half made is made anew; it never served, so nothing is lost.
            log.warning("%s", error)
            self.delete(folder)
            vectors = self._open(folder, embedder)
        return Space(embedder=embedder, folder=folder, held=vectors)

    def aim_at(self, fingerprint: str) -> None:
        """Note where a reindex goes, giving up an unfinished one that went elsewhere; empty for nowhere."""
        if (self.target or "") != fingerprint:
            self._graph.set_meta({TARGET: ""})
            self.remove_leftovers()
            self._graph.set_meta({TARGET: fingerprint})

    def switch(self, space: Space) -> None:
        """Let a space serve, in one write."""
        embedder = space.embedder
        named = {EMBEDDER: embedder.fingerprint, DIMENSION: str(embedder.dimension)}
        self._graph.set_meta({**named, FOLDER: space.folder, TARGET: ""})

    def remove_leftovers(self) -> None:
        """Delete vectors that neither serve nor are being made: of a reindex that was given up or killed."""
        if self._in_memory:
            return
        kept = {self.serving, folder_name(self.target or "")}
        for part in list(self._path.iterdir()):
            if _OURS.fullmatch(part.name) and part.name not in kept:
                self.delete(part.name)

    def delete(self, folder: str) -> None:
        """Delete a folder of vectors that does not serve."""
        if self._in_memory:
            return
        try:
            shutil.rmtree(self._path / folder)
        except FileNotFoundError:
            return
        except OSError as error:
            log.warning("%s: stays until the store is opened again: %s", self._path / folder, error)

    @property
    def _in_memory(self) -> bool:
        return self._config.storage.graph == "memory"

    def _checked(self, folder: str, embedder: Embedder) -> VectorStore:
        vectors = self._open(folder, embedder)
        if vectors.stats().chunks == 0 and self._graph.counts().chunks > 0 and not self._graph.outbox():
            vectors.close()
            raise StorageError(
                f"{self._path / folder}: is empty although the graph holds chunks; "
                "`hydramem doctor --fix` rebuilds it"
            )
        return vectors

    def _open(self, folder: str, embedder: Embedder) -> VectorStore:
        if self._in_memory:
            from hydramem.storage.in_memory.vectors import InMemoryVectors

            return InMemoryVectors(embedder.dimension)
        from hydramem.storage.lance.vectors import open_vectors

        return open_vectors(self._path / folder, embedder.dimension, self._config.storage)
