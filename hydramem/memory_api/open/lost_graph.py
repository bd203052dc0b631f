"""Refuses to open a store whose graph has lost what its vectors still hold; `salvage` keeps that aside."""

import logging
from datetime import UTC, datetime
from pathlib import Path

from hydramem.core.config import Config
from hydramem.core.errors import StorageError
from hydramem.memory_api.open.serving_vectors import vector_folders
from hydramem.storage.cypher.recovery.check_log import REMEDY
from hydramem.storage.repair.lost_rows import LostRows, chunks_lost_after_last_change, export_lost
from hydramem.storage.store import GraphStore
from hydramem.storage.vector_rows import VectorStore

log = logging.getLogger(__name__)


def missing_graph(store: Path, config: Config, *, salvage: bool) -> Path | None:
    """Check, before a graph is made, that none is missing.

    Args:
        store: The store's folder.
        config: Its settings.
        salvage: Whether to go on: the rows of the vectors are written to a file, and the folders renamed.

    Returns:
        The file of lost rows, where some were written.

    Raises:
        StorageError: There is no graph, but vectors that hold rows; or the graph is of the other engine.
        SchemaError: A newer version wrote the graph.
    """
    from hydramem.storage.cypher.schema_statements import ON_A_SERVER, check_engine, graph_file

    check_engine(store / "graph", config.storage.graph)  # a graph of the other engine is not gone
    if config.storage.graph == ON_A_SERVER:
        return None
    file = graph_file(store / "graph", config.storage.graph)
    if file.exists() and file.stat().st_size:
        return None
    held = [folder for folder in vector_folders(store) if any(folder.glob("chunks.lance/data/*"))]
    log_exists = any(file.parent.glob(f"{file.name}.wal"))
    if not held or log_exists:
        return None
    if not salvage:
        raise StorageError(
            f"{file}: the graph is gone or empty, but {held[0].name} holds vectors of memories; nothing was "
            f"changed; {REMEDY}"
        )
    lost = [_rows_of(folder) for folder in held]
    rows = LostRows(
        chunks=tuple(row for part in lost for row in part.chunks),
        entities=tuple(row for part in lost for row in part.entities),
    )
    written = export_lost(store, rows) if rows else None
    for folder in held:
        aside = folder.with_name(f"vectors.damaged-{folder.name}-{datetime.now(UTC):%Y%m%dT%H%M%S%f}")
        log.warning("%s: its graph is gone; kept as %s", folder, aside.name)
        folder.rename(aside)
    return written


def _rows_of(folder: Path) -> LostRows:
    from hydramem.storage.lance.stored_rows import rows_in_folder

    chunks, entities = rows_in_folder(folder)
    return LostRows(chunks=chunks, entities=entities)


def require_no_loss(store: Path, graph: GraphStore, vectors: VectorStore) -> None:
    """Raise StorageError where the vectors hold chunks that are newer than all that the graph holds."""
    if lost := chunks_lost_after_last_change(graph, vectors):
        raise StorageError(
            f"{store}: the graph has lost writes: its vectors hold {lost} chunks that it lacks and that are "
            f"newer than its last change, as when its log was deleted; {REMEDY}"
        )
