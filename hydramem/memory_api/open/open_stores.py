"""One opened folder, shared by every handle of this process on the same real path."""

import os
from collections.abc import Callable
from pathlib import Path

from hydramem.core.config import Config
from hydramem.core.errors import EmbeddingMismatchError, StorageError, StoreBusyError
from hydramem.core.time import now
from hydramem.llm.contracts import Embedder
from hydramem.memory_api.open.open_store import OpenStore, _registry
from hydramem.storage.backup.archive import read_archive
from hydramem.storage.backup.restore import Exchange, restore
from hydramem.storage.files.folder_lock import FolderLock

_open: dict[Path, OpenStore] = {}


def acquire(path: Path, config: Config, embedder: Embedder | None, *, reindexing: bool = False) -> OpenStore:
    """Open a folder, or join the handle that this process already has on the same real path.

    `reindexing` opens a store with its own embedder whatever the configuration names.

    Raises:
        EmbeddingMismatchError: The open handle, or the store, has another embedder than the one given.
        StoreBusyError: Another process holds the folder.
        StorageError: The folder or a store in it cannot be opened.
    """
    if config.storage.graph == "memory":
        return OpenStore(path, config, embedder, reindexing=reindexing)
    with _registry:
        store = _open.get(path)
        if store is None or store._pid != os.getpid():
            store = _open[path] = OpenStore(path, config, embedder, reindexing=reindexing)
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
            # A store in memory, or of the parent process, may have the path of one that is open here.
            if _open.get(store.path) is store:
                del _open[store.path]
            store.close()


def restore_closed(path: Path, file: Path, config: Config) -> Exchange:
    """Put the content of a backup into a folder that nobody holds.

    Raises:
        InvalidInputError: It is no backup for this store; nothing was touched.
        StoreBusyError: A process holds the folder.
        SchemaError: A newer version wrote the backup.
        StorageError: The folder cannot be written.
    """
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StorageError(f"{path}: cannot be made: {error.strerror}") from error
    lock = FolderLock(path)
    lock.acquire()
    try:
        return restore(file, path, engine=config.storage.graph, now=now())
    finally:
        lock.release()


def restore_open(store: OpenStore, file: Path, hand_over: Callable[[OpenStore], None]) -> Exchange:
    """Close a store, put the content of a backup in its place, and open that.

    Args:
        store: Held by one handle.
        file: The backup.
        hand_over: Is given the store that is open afterwards, also where the backup could not be used.

    Raises:
        StoreBusyError: Further handles of this process have the store open.
        HydraMemError: As `exchange`.
    """
    with _registry:
        if store.handles > 1:
            raise StoreBusyError(
                f"{store.path}: {store.handles} handles of this process are open; close the others first"
            )
        _check_backup(file)  # else it would be closed for nothing
        store.close()
        try:
            return restore_closed(store.path, file, store.config)
        finally:
            _open.pop(store.path, None)
            new = OpenStore(store.path, store.config, store.given_embedder)
            _open[store.path] = new
            hand_over(new)


def _check_backup(file: Path) -> None:
    try:
        read_archive(file)
    except OSError as error:
        raise StorageError(f"{file}: cannot be read: {error.strerror or error}") from error
