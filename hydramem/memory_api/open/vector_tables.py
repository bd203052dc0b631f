"""The vectors in use where they are tables beside the graph, and not folders."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, cast

from hydramem.core.config import Config
from hydramem.llm.contracts import Embedder
from hydramem.memory_api.open.serving_vectors import Space, VectorFolders
from hydramem.storage.repair.reindex import FIRST_FOLDER, folder_name
from hydramem.storage.store import GraphStore
from hydramem.storage.vector_rows import VectorStore

if TYPE_CHECKING:
    from hydramem.storage.postgres.connection import Database
    from hydramem.storage.postgres.graph.graph import PostgresGraph


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

    def remove_leftovers(self) -> None:
        """Delete tables that are neither in use nor a target: of a reindex that was cancelled or killed."""
        from hydramem.storage.postgres.vectors.spaces import space_names

        if not self._graph.count_chunks():
            return
        kept = {name.replace("-", "_") for name in (self.serving, folder_name(self.target or ""))}
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
