"""The vectors in use where they are tables beside the graph, and not folders."""

import json
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, cast

from hydramem.core.config import Config
from hydramem.core.errors import StorageError
from hydramem.core.time import clock
from hydramem.llm.contracts import Embedder
from hydramem.memory_api.open.serving_vectors import Space, VectorFolders
from hydramem.storage.repair.reindex import FIRST_FOLDER, RETIRED, folder_name
from hydramem.storage.store import GraphStore
from hydramem.storage.vector_rows import VectorStore

if TYPE_CHECKING:
    from hydramem.storage.postgres.connection import Database
    from hydramem.storage.postgres.graph.graph import PostgresGraph

_READ_AFTER_SWITCH = timedelta(hours=1)
"""How long retired vectors stay for processes that do not know of the switch yet, and for long reads."""


def vector_folders_of(path: Path, config: Config, graph: GraphStore) -> VectorFolders:
    """Return the folders of a store's vectors, or the tables that take their place."""
    kind = VectorTables if config.storage.graph == "postgres" else VectorFolders
    return kind(path, config, graph)


class VectorTables(VectorFolders):
    """The vectors on PostgreSQL: what is a folder elsewhere is a group of tables of that name."""

    def renew(self, space: Space) -> Space:
        """Return a space whose vectors can be rebuilt; damaged tables give way to empty ones."""
        self.delete(space.folder)
        return replace(space, held=self._open(space.folder, space.embedder))

    def switch(self, space: Space) -> None:
        """Put a space in use, in one transaction of which every other process is told.

        Raises:
            StorageError: Another process has ended this reindex.
        """
        graph, before = cast("PostgresGraph", self._graph), self.serving
        if self.target != space.embedder.fingerprint:
            raise StorageError("another process ended this reindex, or finished it; nothing is changed")
        retired = {**self._retired(), before: clock().isoformat()}
        retired.pop(space.folder, None)
        with graph.database.transaction():
            graph.set_meta({RETIRED: json.dumps(retired)})
            super().switch(space)
            graph.tell_of_switch()

    def retire(self, folder: str) -> None:
        """Leave the tables for a while: other processes read them until they notice the switch."""

    def _retired(self) -> dict[str, str]:
        """Return when spaces were retired that other processes may still read, by name."""
        retired: dict[str, str] = json.loads(self._graph.meta().get(RETIRED) or "{}")
        since = clock() - _READ_AFTER_SWITCH
        return {name: at for name, at in retired.items() if datetime.fromisoformat(at) > since}

    def _delete_leftovers(self) -> None:
        from hydramem.storage.postgres.vectors.spaces import space_names

        if not self._graph.count_chunks():
            return
        named = (self.serving, folder_name(self.target or ""), *self._retired())
        kept = {name.replace("-", "_") for name in named}
        for name in space_names(self._database, FIRST_FOLDER):
            if name not in kept:
                self.delete(name)

    def delete(self, folder: str) -> None:
        """Delete vectors that are not in use."""
        from hydramem.storage.postgres.vectors.vectors import drop_vectors

        drop_vectors(self._database, folder)

    @property
    def _database(self) -> "Database":
        return cast("PostgresGraph", self._graph).database

    def _open(self, folder: str, embedder: Embedder) -> VectorStore:
        from hydramem.storage.postgres.vectors.vectors import open_vectors

        return open_vectors(self._database, folder, embedder.dimension, self._config.storage)
