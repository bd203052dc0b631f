"""Erase: a closed store is copied without what goes, then one note switches to the copy.

The old files are deleted with the switch. So nothing of the erased text is left in a graph file, in a log, or
in an old version, a deleted row or an index of LanceDB. A kill leaves the store as it was or as it becomes.
"""

import shutil
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import asdict, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from hydramem.core.config import StorageConfig
from hydramem.core.results.erasure_results import ErasureReceipt
from hydramem.core.row_types import Change
from hydramem.erase.backups import stage_backups, stage_kept_stores
from hydramem.erase.copy_stores import RowCounts, copy_graph, copy_vectors, count_rows, open_empty_graph
from hydramem.erase.erasure import Erasure, ErasureRequest
from hydramem.erase.find import find
from hydramem.erase.side_files import Staging, stage_side_files, vector_folders
from hydramem.erase.switch import Switch, new_staged_folder, switch
from hydramem.storage.changes import ERASE, ERASED_RUNS, record
from hydramem.storage.cypher.graph import open_graph
from hydramem.storage.files.durable_files import storage_errors
from hydramem.storage.files.free_space import require_free
from hydramem.storage.in_memory.graph import InMemoryGraph
from hydramem.storage.lance.table import folder_bytes
from hydramem.storage.lance.vectors import open_vectors
from hydramem.storage.repair.reindex import DIMENSION, FIRST_FOLDER, FOLDER
from hydramem.storage.store import GraphStore
from hydramem.storage.vector_rows import VectorStore
from hydramem.storage.write import Write

Progress = Callable[[int, int], None]
"""Called with rows done and rows to do."""
_GRAPH = "graph"
_ELSEWHERE = "Backups, dumps and copies outside the store's folder are not known to it: delete those too."


def preview(graph: GraphStore, request: ErasureRequest) -> ErasureReceipt:
    """Return what an erasure would remove and change; nothing is written.

    Raises:
        NotFoundError: An id is of nothing, or the project holds nothing.
    """
    erasure = find(graph, request)
    return replace(_receipt(request, erasure, count_rows(graph, erasure)), id="", dry_run=True)


def erase_folder(
    folder: Path, request: ErasureRequest, settings: StorageConfig, *, progress: Progress | None = None
) -> ErasureReceipt:
    """Erase from a store that is closed and whose lock is held; see the module for how.

    Args:
        folder, settings: The store, and its engine.
        request: What to erase.
        progress: Called with rows done and rows to do.

    Raises:
        NotFoundError: An id is of nothing, or the project holds nothing; nothing is changed.
        DiskFullError: There is no room for a copy; nothing is changed.
        StorageError: A file cannot be read or written; nothing is changed unless the message says that the
            next opening finishes.
    """
    with storage_errors(folder, "cannot be rewritten"):
        staged = new_staged_folder(folder)
        try:
            require_free(folder, (settings.min_free_mb << 20) + folder_bytes(folder), "an erase")
            staging = Staging(folder=folder, staged=staged)
            receipt = _stage(staging, request, settings, progress)
        except BaseException:
            shutil.rmtree(staged, ignore_errors=True)
            raise
        switch(folder, _switch(staging))
    return receipt


def _stage(
    staging: Staging, request: ErasureRequest, settings: StorageConfig, progress: Progress | None
) -> ErasureReceipt:
    """Make every new file of a store in a staging folder."""
    folder = staging.folder
    with ExitStack() as stores:
        graph = open_graph(folder / _GRAPH, settings)
        stores.callback(graph.close)
        erasure = find(graph, request)
        copy = open_empty_graph(staging.place(_GRAPH), settings)
        stores.callback(copy.close)
        step = _steps(graph, progress)
        counts = copy_graph(graph, copy, erasure, step=step)
        serving = graph.meta().get(FOLDER, FIRST_FOLDER)
        for other in vector_folders(staging):
            if other.name != serving:
                staging.delete(other)  # damaged, or of an unfinished reindex: they derive from the graph
        dimension = int(graph.meta()[DIMENSION])
        vectors = _opened(stores, folder / serving, dimension, settings)
        copy_vectors(vectors, _opened(stores, staging.place(serving), dimension, settings), copy, step=step)
        stage_side_files(staging, erasure)
        stage_backups(staging, request, erasure, settings)
        stage_kept_stores(staging, request, erasure, settings)
        receipt = _receipt(request, erasure, counts, staging)
        copy.write(Write(changes=_changes(receipt, counts)))
    return receipt


def _switch(staging: Staging) -> Switch:
    replaced = tuple(dict.fromkeys(staging.replaced))
    return Switch(staged=staging.staged.name, replaced=replaced, deleted=tuple(staging.deleted))


def _opened(stores: ExitStack, folder: Path, dimension: int, settings: StorageConfig) -> VectorStore:
    vectors = open_vectors(folder, dimension, settings)
    stores.callback(vectors.close)
    return vectors


def erase_in_memory(
    graph: InMemoryGraph, vectors: VectorStore, fresh: VectorStore, files: Path, request: ErasureRequest
) -> ErasureReceipt:
    """Erase from a store that is in memory.

    Args:
        graph, vectors: The stores; the graph takes over the rows that stay.
        fresh: An empty vector store, which gets the vectors that stay.
        files: The folder of its plain files.
        request: What to erase.

    Raises:
        NotFoundError: An id is of nothing, or the project holds nothing; nothing is changed.
    """
    erasure, copy = find(graph, request), InMemoryGraph()
    counts = copy_graph(graph, copy, erasure)
    copy_vectors(vectors, fresh, copy)
    staged = new_staged_folder(files)
    staging = Staging(folder=files, staged=staged)
    stage_side_files(staging, erasure)
    receipt = _receipt(request, erasure, counts, staging)
    copy.write(Write(changes=_changes(receipt, counts)))
    switch(files, _switch(staging))
    graph.take_over(copy)
    return receipt


def _steps(graph: GraphStore, progress: Progress | None) -> Callable[[int], None]:
    counts = graph.counts()
    nodes = counts.documents + 2 * (counts.chunks + counts.entities) + counts.sessions + counts.changes
    total = nodes + counts.relations + counts.mentions + counts.links
    done = 0

    def step(rows: int) -> None:
        nonlocal done
        done += rows
        if progress is not None:
            progress(done, max(done, total))

    return step


def _receipt(
    request: ErasureRequest, erasure: Erasure, counts: RowCounts, staging: Staging | None = None
) -> ErasureReceipt:
    notes = [_ELSEWHERE]
    if erasure.remaining:
        notes.append(
            "Texts in `remaining` stay: they share words with what was erased, or name an erased entity."
        )
    return ErasureReceipt(
        id=request.receipt,
        asked=request.asked,
        project=request.project,
        at=request.at,
        actor=request.actor,
        removed=counts.removed,
        changed=counts.changed,
        rewritten=() if staging is None else tuple(dict.fromkeys(staging.replaced)),
        deleted=() if staging is None else tuple(staging.deleted),
        to_edit=() if staging is None else tuple(staging.to_edit),
        remaining=erasure.remaining,
        notes=tuple(notes),
    )


def _changes(receipt: ErasureReceipt, counts: RowCounts) -> tuple[Change, ...]:
    """Return the audit rows of an erasure: one for each thing asked for, the first with the receipt."""
    values: dict[str, Any] = asdict(receipt) | {"at": _text(receipt.at), ERASED_RUNS: list(counts.runs)}
    first, *others = (
        record(ERASE, project=receipt.project, target=target, after={"receipt": receipt.id})
        for target in receipt.asked
    )
    whole = record(ERASE, project=receipt.project, target=first.target, after=values)
    return (replace(whole, id=receipt.id), *others)


def _text(moment: datetime) -> str:
    return moment.isoformat()
