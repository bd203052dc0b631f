"""The vectors in use, and their folders: the one in use, the target of a reindex, and leftovers.

The graph's metadata names them, so that one write to the graph switches from one folder to another.
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
from hydramem.storage.store import GraphStore
from hydramem.storage.vector_rows import VectorStore

log = logging.getLogger(__name__)
_FOLDER_NAME = re.compile(rf"{FIRST_FOLDER}(-[0-9a-f]{{12}})?")


# Compared by identity: after a rebuild the same folder is another space.
@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Space:
    """An embedder and its vectors.

    Attributes:
        folder: Name of the folder of the vectors.
        held: The vectors, or the error why they are not available.
    """

    embedder: Embedder
    folder: str
    held: VectorStore | StorageError

    @property
    def vectors(self) -> VectorStore:
        """The vector store.

        Raises:
            StorageError: It is damaged or missing; the message says how to rebuild it.
        """
        if isinstance(self.held, StorageError):
            raise self.held
        return self.held

    def damage(self) -> StorageError | None:
        """Read all that the vectors hold; return why that is not possible, None where it is."""
        try:
            self.vectors.check()
        except StorageError as error:
            return error
        return None

    def mended(self) -> bool:
        """Make the indices anew, and say whether the vectors are whole now."""
        try:
            return self.vectors.remake_indices() and self.damage() is None
        except StorageError:
            return False

    def close(self) -> None:
        """Close the vectors; a second call does nothing."""
        if not isinstance(self.held, StorageError):
            self.held.close()


class Serving:
    """The space in use; it can be replaced while reads of the old one finish."""

    def __init__(self, space: Space) -> None:
        self._changed = threading.Condition()
        self._current = space
        self._readers: Counter[Space] = Counter()

    @property
    def current(self) -> Space:
        """The space in use."""
        return self._current

    @contextmanager
    def reading(self) -> Iterator[Space]:
        """Hold the space in use: it stays open until this ends, also where another replaces it."""
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
        """Use another space for every read that begins from now on."""
        with self._changed:
            self._current = space

    def retire(self, space: Space) -> None:
        """Close a space that is no longer in use, once it has no open readers."""
        with self._changed:
            self._changed.wait_for(lambda: space not in self._readers)
        space.close()

    def close(self) -> None:
        """Close the space in use."""
        self._current.close()


def vector_folders(store: Path) -> list[Path]:
    """Return the folders of vectors in a store, in use or not, by name."""
    return sorted(part for part in store.iterdir() if _FOLDER_NAME.fullmatch(part.name))


class VectorFolders:
    """The folders of vectors in a store.

    Args:
        path: The store.
        config: Its settings.
        graph: Its metadata names the folder in use and the target of an unfinished reindex.
    """

    def __init__(self, path: Path, config: Config, graph: GraphStore) -> None:
        self._path = path
        self._config = config
        self._graph = graph

    @property
    def serving(self) -> str:
        """Name of the folder in use."""
        return self._graph.meta().get(FOLDER, FIRST_FOLDER)

    @property
    def target(self) -> str | None:
        """Fingerprint of the embedder that an unfinished reindex moves to."""
        return self._graph.meta().get(TARGET) or None

    def open(self, embedder: Embedder) -> Space:
        """Open the vectors in use; if they are damaged or missing, keep the error for their first use."""
        folder = self.serving
        try:
            held: VectorStore | StorageError = self._checked(folder, embedder)
        except EmbeddingMismatchError:
            raise
        except StorageError as error:
            log.info("%s", error)  # raised at their first use; a restore, or `doctor --fix`, rebuilds them
            held = error
        return Space(embedder=embedder, folder=folder, held=held)

    def empty(self, space: Space) -> Space:
        """Return a space in memory like another, without rows."""
        from hydramem.storage.in_memory.vectors import InMemoryVectors

        return replace(space, held=InMemoryVectors(space.embedder.dimension))

    def renew(self, space: Space) -> Space:
        """Return a space whose vectors can be rebuilt; a damaged folder is moved aside for an empty one."""
        folder = self._path / space.folder
        try:
            opened = replace(space, held=self._open(space.folder, space.embedder))
            if (damage := opened.damage()) is not None:
                opened.close()
                raise damage
        except StorageError:
            # The damaged folder is kept: only a person can decide that it is worthless.
            folder.rename(folder.with_name(f"vectors.damaged-{datetime.now(UTC):%Y%m%dT%H%M%S%f}"))
            return replace(space, held=self._open(space.folder, space.embedder))
        return opened

    def prepare(self, embedder: Embedder) -> Space:
        """Open the folder that a reindex fills, with the rows of an unfinished reindex to it."""
        self.aim_at(embedder.fingerprint)
        folder = folder_name(embedder.fingerprint)
        try:
            vectors = self._open(folder, embedder)
        except StorageError as error:
            # A folder that a kill left incomplete is created again; it was never in use.
            log.warning("%s", error)
            self.delete(folder)
            vectors = self._open(folder, embedder)
        return Space(embedder=embedder, folder=folder, held=vectors)

    def aim_at(self, fingerprint: str) -> None:
        """Store the target of a reindex, and cancel an unfinished one to another target; empty for none."""
        if (self.target or "") != fingerprint:
            self._graph.set_meta({TARGET: ""})
            self._delete_leftovers()
            self._graph.set_meta({TARGET: fingerprint})

    def switch(self, space: Space) -> None:
        """Put a space in use, in one write."""
        embedder = space.embedder
        facts = {EMBEDDER: embedder.fingerprint, DIMENSION: str(embedder.dimension)}
        self._graph.set_meta({**facts, FOLDER: space.folder, TARGET: ""})

    def retire(self, folder: str) -> None:
        """Note that a folder is not in use any more; it has no readers in this process."""
        self.delete(folder)

    def remove_leftovers(self) -> None:
        """Delete folders that are neither in use nor a target: of a reindex that was cancelled or killed."""
        with self._graph.moving_vectors() as alone:
            if alone:
                self._delete_leftovers()

    def _delete_leftovers(self) -> None:
        if self._in_memory or not self._graph.count_chunks():
            return  # a graph that is empty may not know which folder is in use
        kept = {self.serving, folder_name(self.target or "")}
        for folder in vector_folders(self._path):
            if folder.name not in kept:
                self.delete(folder.name)

    def delete(self, folder: str) -> None:
        """Delete a folder of vectors that is not in use."""
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
        pending = {id for row in self._graph.outbox() for id in row.chunks}
        if vectors.stats().chunks == 0 and self._graph.counts().chunks > len(pending):
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
