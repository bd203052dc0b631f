"""Memory: the handle on a store, with one method for each operation, and `connect`, which opens it."""

from pathlib import Path as FilePath

from hydramem.core.argument_checks import check_project
from hydramem.core.config import Config
from hydramem.core.config_loading import load_config
from hydramem.llm.contracts import Embedder, Generator
from hydramem.memory_api.check_methods import CheckMethods
from hydramem.memory_api.document_methods import DocumentMethods
from hydramem.memory_api.garden_methods import GardenMethods
from hydramem.memory_api.graph_methods import GraphMethods
from hydramem.memory_api.job_handlers import JobHandlers
from hydramem.memory_api.knowledge_methods import KnowledgeMethods
from hydramem.memory_api.open import shared_stores
from hydramem.memory_api.read_methods import ReadMethods
from hydramem.memory_api.safekeeping_methods import SafekeepingMethods
from hydramem.memory_api.session_methods import SessionMethods
from hydramem.memory_api.write_methods import WriteMethods


def connect(
    path: str | FilePath,
    *,
    project: str = "default",
    config: Config | str | FilePath | None = None,
    embedder: Embedder | None = None,
    generator: Generator | None = None,
    reindexing: bool = False,
    salvage: bool = False,
) -> "Memory":
    """Open a folder as a memory; a missing folder is created.

    A store whose folder cannot be written is opened for reading: writes raise ReadOnlyError.
    Handles of one process on the same real path share the open store.

    Args:
        path: The store folder.
        project: Project that calls without a `project` read and write.
        config: Settings, or a YAML file of them; None reads `config.yml` in the folder, if there is one.
        embedder: Computes the vectors; None chooses as `embedding.model` says.
        generator: Answers prompts; None chooses as `llm` says.
        reindexing: Open with the store's own embedder instead of the configured one, so that `reindex` can
            change it.
        salvage: Also open a store that has lost writes, with what can still be read: its log is damaged, or
            its graph is older than its vectors or gone. Damaged files are kept under another name, and
            `doctor` with `salvage` writes what only the vectors hold to a file.

    Raises:
        ConfigError: A setting is wrong.
        StoreBusyError: Another process holds the folder.
        EmbeddingMismatchError: The folder holds vectors of another embedder.
        SchemaError: A newer version wrote the folder.
        StorageError: The folder cannot be read or written, or the store has lost writes.
    """
    folder = FilePath(path).expanduser().resolve()
    default = check_project(project)
    settings = config if isinstance(config, Config) else load_config(config_file(folder, config))
    store = shared_stores.acquire(folder, settings, embedder, reindexing=reindexing, salvage=salvage)
    serves_jobs = not reindexing and not store.read_only
    if serves_jobs and (generator is not None or not store.jobs.served):
        # The jobs have a handle of their own, which stays open when the caller closes this one.
        store.jobs.serve(JobHandlers(store, default, generator).handlers())
    return Memory(store, default, generator)


def config_file(folder: FilePath, given: str | FilePath | None) -> FilePath | None:
    """Return the file of settings of a store: the given one, else `config.yml` in its folder, else None."""
    if given is not None:
        return FilePath(given).expanduser()
    own = folder / "config.yml"
    return own if own.is_file() else None


class Memory(
    SessionMethods,
    DocumentMethods,
    WriteMethods,
    KnowledgeMethods,
    ReadMethods,
    GraphMethods,
    CheckMethods,
    GardenMethods,
    SafekeepingMethods,
):
    """A memory, as `connect` returns it. Safe to use from many threads; close it, or use it with `with`."""
