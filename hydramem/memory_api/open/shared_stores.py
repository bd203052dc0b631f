"""The open stores of this process: handles on the same real path share one."""

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from hydramem.core.config import Config
from hydramem.core.errors import EmbeddingMismatchError, InvalidInputError, StoreBusyError
from hydramem.core.results.erasure_results import ErasureReceipt
from hydramem.core.settings.environment import make_store_folder
from hydramem.core.time import now
from hydramem.erase.switch import finish as finish_erase
from hydramem.llm.contracts import Embedder
from hydramem.memory_api.open.open_store import OpenStore
from hydramem.storage.backup.archive import read_archive
from hydramem.storage.backup.restore import Exchange, restore
from hydramem.storage.files.durable_files import storage_errors
from hydramem.storage.files.folder_lock import FolderLock

if TYPE_CHECKING:
    from hydramem.erase.erasure import ErasureRequest

_open: dict[Path, OpenStore] = {}

_registry = threading.Lock()


def _renew_registry() -> None:
    """Give a forked child a lock of its own: a thread of the parent may hold the inherited one."""
    global _registry
    _registry = threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_registry)


def acquire(
    path: Path,
    config: Config,
    embedder: Embedder | None,
    *,
    reindexing: bool = False,
    salvage: bool = False,
) -> OpenStore:
    """Open a folder, or share the store that this process has open on the same real path.

    With `reindexing` a store is opened with its own embedder instead of the configured one, with `salvage`
    also one that has lost writes.

    Raises:
        EmbeddingMismatchError: The store has another embedder than the given one.
        StoreBusyError: Another process holds the folder.
        StorageError: The folder or a store in it cannot be opened.
    """
    if config.storage.graph == "memory":
        return OpenStore(path, config, embedder, reindexing=reindexing)
    opening = {"reindexing": reindexing, "salvage": salvage}
    with _registry:
        store = _open.get(path)
        if store is None or store._pid != os.getpid():
            store = _open[path] = OpenStore(path, config, embedder, **opening)
            return store
        if embedder is not None and embedder.fingerprint != store.embedder.fingerprint:
            raise EmbeddingMismatchError(
                f"{path}: is open with {store.embedder.fingerprint}, not {embedder.fingerprint}"
            )
        store.handles += 1
        return store


def release(store: OpenStore) -> None:
    """Release one handle; the last one closes the store."""
    with _registry:
        store.handles -= 1
        if store.handles == 0:
            # A store in memory, or of the parent process, can have the path of one that is open here.
            stop, stopped = store.at_last_close
            stop()
            if _open.get(store.path) is store:
                del _open[store.path]
            try:
                store.close()
            finally:
                stopped()


def opened(store: OpenStore) -> OpenStore:
    """Return the store that is open now where one was: another, once it was restored or erased from."""
    return store if store.in_memory else _open.get(store.path, store)


def restore_closed(path: Path, file: Path, config: Config) -> Exchange:
    """Restore a backup into a folder that is not open.

    Raises:
        InvalidInputError: The file is not a backup of this store; nothing is changed.
        StoreBusyError: A process holds the folder.
        SchemaError: A newer version wrote the backup.
        StorageError: The folder cannot be written.
    """
    with storage_errors(path, "cannot be created"):
        make_store_folder(path)
    with _locked(path):
        finish_erase(path)
        return restore(file, path, engine=config.storage.graph, now=now())


def restore_open(store: OpenStore, file: Path, adopt: Callable[[OpenStore], None]) -> Exchange:
    """Close a store, restore a backup in its folder, and open it again.

    Args:
        store: A store with one handle.
        file: The backup.
        adopt: Called with the store that is open afterwards, also where the backup could not be restored.

    Raises:
        StoreBusyError: Further handles of this process have the store open.
        HydraMemError: As `restore`.
    """
    with _registry:
        _require_one_handle(store)
        _check_backup(file)  # before the store is closed for it
        store.close()
        try:
            return restore_closed(store.path, file, store.config)
        finally:
            _reopen(store, adopt)


def erase_open(
    store: OpenStore,
    request: "ErasureRequest",
    adopt: Callable[[OpenStore], None],
    progress: Callable[[int, int], None] | None,
) -> ErasureReceipt:
    """Close a store, erase from its folder, and open it again; one in memory stays open.

    Args:
        store: A store with one handle.
        request: What to erase.
        adopt: Called with the store that is open afterwards, also where nothing could be erased.
        progress: Called with rows done and rows to do.

    Raises:
        StoreBusyError: Further handles of this process have the store open.
        InvalidInputError: The graph is on a server.
        HydraMemError: As `erase_folder`.
    """
    from hydramem.erase.erase import erase_folder

    if store.in_memory:
        return store.erase_in_memory(request)
    if not store.has_graph_file:
        raise InvalidInputError(
            "erase: not on PostgreSQL: `hydramem dump` the memory, `load` it into a folder, erase there, and "
            "`load` a dump of that into another schema; or `forget`, which archives"
        )
    with _registry:
        store.require_writable()
        _require_one_handle(store)
        store.check_vectors()
        store.close()
        try:
            with _locked(store.path):
                return erase_folder(store.path, request, store.config.storage, progress=progress)
        finally:
            _reopen(store, adopt)


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    lock = FolderLock(folder)
    lock.acquire()
    try:
        yield
    finally:
        lock.release()


def _require_one_handle(store: OpenStore) -> None:
    if store.handles > 1:
        raise StoreBusyError(
            f"{store.path}: {store.handles} handles of this process are open; close the others first"
        )


def _reopen(store: OpenStore, adopt: Callable[[OpenStore], None]) -> None:
    _open.pop(store.path, None)
    new = OpenStore(store.path, store.config, store.given_embedder)
    new.at_last_close = store.at_last_close
    _open[store.path] = new
    adopt(new)


def _check_backup(file: Path) -> None:
    with storage_errors(file, "cannot be read"):
        read_archive(file)
