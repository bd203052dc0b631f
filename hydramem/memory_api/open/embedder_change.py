"""The change of an open store to the vectors of another embedder, one at a time."""

import logging
import threading
from dataclasses import dataclass, field
from pathlib import Path

from hydramem.core.errors import StorageError, StoreBusyError
from hydramem.core.results.upkeep_results import Reindexed
from hydramem.llm.contracts import Embedder
from hydramem.memory_api.open.serving_vectors import Serving, Space, VectorFolders
from hydramem.storage.outbox import Mirror
from hydramem.storage.repair.compare_stores import compare_stores
from hydramem.storage.repair.doctor import Progress
from hydramem.storage.repair.lost_rows import export_lost, lost_rows
from hydramem.storage.repair.reindex import move
from hydramem.storage.store import GraphStore

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbedderChange:
    """Moves a store to other vectors, and deletes those that are left over.

    Attributes:
        path: The store, for messages.
        files: Where rows are kept that only the old vectors hold.
        graph, mirror, serving, folders: Of the store.
    """

    path: Path
    files: Path
    graph: GraphStore
    mirror: Mirror
    serving: Serving
    folders: VectorFolders
    _one: threading.Lock = field(default_factory=threading.Lock)

    def remove_leftovers(self) -> None:
        """Delete vectors that are of no use any more; nothing while a change runs."""
        if not self._one.acquire(blocking=False):
            return
        try:
            self.folders.remove_leftovers()
        finally:
            self._one.release()

    def to(self, embedder: Embedder, *, progress: Progress | None) -> Reindexed:
        """Move to the vectors of another embedder; the old ones stay in use until then.

        Raises:
            ModelError: The embedder failed; the old vectors stay in use, and the next call continues.
            StoreBusyError: Another process changes the vectors.
            StorageError: A store failed, or the embedder is the store's own and its vectors are damaged.
        """
        embedder.embed_query("works")  # a broken embedder fails here, before anything changes
        with self._one, self.graph.moving_vectors() as alone:
            if not alone:
                raise StoreBusyError(f"{self.path}: another machine changes the vectors; wait for it")
            before = self.serving.current
            if before.embedder.fingerprint != embedder.fingerprint:
                return self._move(before, embedder, progress)
            held = before.vectors.stats()
            self.folders.aim_at("")
            return Reindexed(
                before=embedder.fingerprint,
                after=embedder.fingerprint,
                changed=False,
                chunks=held.chunks,
                entities=held.entities,
            )

    def _move(self, before: Space, embedder: Embedder, progress: Progress | None) -> Reindexed:
        self._keep_lost_rows(before)
        space = self.folders.prepare(embedder)
        try:
            moved = move(
                self.graph,
                space.vectors,
                embedder.embed_documents,
                mirror=self.mirror,
                switch=lambda: self._switch(space),
                progress=progress,
            )
        finally:
            if self.serving.current is not space:
                space.close()
        self.serving.retire(before)
        self.folders.retire(before.folder)
        return Reindexed(
            before=before.embedder.fingerprint,
            after=embedder.fingerprint,
            changed=True,
            chunks=moved.chunks,
            entities=moved.entities,
            made=moved.made,
            resumed=moved.resumed,
        )

    def _keep_lost_rows(self, space: Space) -> None:
        """Write the rows that only the vectors of a space hold to a file, before its folder is deleted."""
        if isinstance(space.held, StorageError):
            return
        if not compare_stores(self.graph, space.held).chunks.orphaned:
            return  # others wrote meanwhile, which loses nothing
        with self.mirror.one_writer:
            compared = compare_stores(self.graph, space.held)
            lost = lost_rows(self.graph, space.held, chunks=compared.chunks.orphaned)
        if lost:
            file = export_lost(self.files, lost)
            log.warning("%d chunks are in the vectors only; kept in %s", len(lost), file)

    def _switch(self, space: Space) -> None:
        """Put a complete space in use; the writer lock is held."""
        try:
            self.folders.switch(space)
        finally:
            # A commit that failed may be stored all the same, so the graph is asked.
            if self.folders.serving == space.folder:
                self.serving.replace(space)
        self.graph.clear_outbox([row.id for row in self.graph.outbox()])  # the new vectors have every row
