"""What other processes do to a store on PostgreSQL: their writes, and the vectors that they put in use."""

import logging
import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from hydramem.core.errors import ConfigError, EmbeddingMismatchError, ModelUnavailableError
from hydramem.graph.snapshot.registry import Snapshots
from hydramem.ingest.items.item_index import ItemIndex
from hydramem.llm.contracts import Embedder
from hydramem.memory_api.open.serving_vectors import Serving, VectorFolders
from hydramem.storage.jobs import Jobs
from hydramem.storage.outbox import Mirror
from hydramem.storage.repair.reindex import EMBEDDER, FIRST_FOLDER, FOLDER
from hydramem.storage.write import Write

if TYPE_CHECKING:
    from hydramem.storage.postgres.feed import FeedRow
    from hydramem.storage.postgres.follower import Follower
    from hydramem.storage.postgres.graph.graph import PostgresGraph

log = logging.getLogger(__name__)


@dataclass(slots=True, kw_only=True)
class OtherProcesses:
    """Keeps what an open store holds in memory as the other processes left it.

    Attributes:
        path: The folder of this process, for messages.
        choose_embedder: Returns the embedder of the vectors in use.
        mismatch: Why the vectors in use are of no use here; None where they are.
    """

    path: Path
    graph: "PostgresGraph"
    mirror: Mirror
    snapshots: Snapshots
    items: ItemIndex
    jobs: Jobs
    serving: Serving
    folders: VectorFolders
    choose_embedder: Callable[[], Embedder]
    mismatch: str | None = None

    def follow(self) -> "Follower":
        """Follow from now on, until what is returned is closed."""
        follower = self.graph.follow(self._note, self._wants)

        def catch_up() -> None:
            follower.catch_up()
            self.require_embedder()

        self.mirror.follow(catch_up)
        follower.start(self.mirror.one_writer.of_this_process)
        return follower

    def notice_switch(self) -> None:
        """Use the vectors that the store names, where others were put in use since these were opened."""
        with self.mirror.one_writer.of_this_process:
            self._notice_switch()
        self.require_embedder()

    def require_embedder(self) -> None:
        """Raise EmbeddingMismatchError where the vectors in use are of no use here."""
        if self.mismatch is not None:
            raise EmbeddingMismatchError(self.mismatch)

    def _wants(self, row: "FeedRow") -> bool:
        """Say whether anything here depends on what a write of another process changed."""
        has_items = "items" in {*(row.keys or ()), *row.removed}
        return (
            self.snapshots.holds(row.projects)
            or (has_items and self.items.is_loaded)
            or self.mirror.is_watched
        )

    def _note(self, write: Write | None, projects: tuple[str, ...], left_jobs: bool) -> None:
        """Follow a write of another process; None where what it wrote is not known."""
        if write is not None:
            self.snapshots.apply(write, projects)
            self.items.apply(write)
        else:
            self.items.forget()
            for project in projects:
                self.snapshots.forget(project)
            if not projects:
                self.snapshots.forget_all()
                self._notice_switch()
        self.mirror.followed(write)
        if left_jobs:
            self.jobs.noticed_elsewhere()

    def _notice_switch(self) -> None:
        """Use the vectors that the store names, where another process has switched to others.

        Where the embedder of those cannot be had here, no operation goes on: what this process has in mind
        would answer wrongly.
        """
        facts, before = self.graph.meta(), self.serving.current
        now = facts.get(FOLDER, FIRST_FOLDER), facts.get(EMBEDDER)
        if self.mismatch is not None or now == (before.folder, before.embedder.fingerprint):
            return
        try:
            space = self.folders.open(self.choose_embedder())
        except (EmbeddingMismatchError, ConfigError, ModelUnavailableError) as error:
            self.mismatch = (
                f"{self.path}: another process moved the memory to the vectors of {now[1]}, which are of no "
                f"use here until it is opened again: {error}"
            )
            log.warning("%s", self.mismatch)
            self.jobs.stop()  # they are for a process that can do them
            space = replace(before, held=EmbeddingMismatchError(self.mismatch))
        self.serving.replace(space)
        # What reads the old vectors may wait for the writer lock, which is held here.
        threading.Thread(
            target=self.serving.retire, args=(before,), name="hydramem-retired-vectors", daemon=True
        ).start()
