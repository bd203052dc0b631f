"""Memory: the handle on a store, with one method for each operation, and `connect`, which opens it."""

from pathlib import Path as FilePath

from hydramem.core.argument_checks import check_project
from hydramem.core.config import Config
from hydramem.core.settings.config_loading import config_file, load_config
from hydramem.llm.contracts import Embedder, Generator
from hydramem.memory_api.job_handlers import JobHandlers
from hydramem.memory_api.methods.check_methods import CheckMethods
from hydramem.memory_api.methods.document_methods import DocumentMethods
from hydramem.memory_api.methods.exchange_methods import ExchangeMethods
from hydramem.memory_api.methods.garden_methods import GardenMethods
from hydramem.memory_api.methods.graph_methods import GraphMethods
from hydramem.memory_api.methods.item_methods import ItemMethods
from hydramem.memory_api.methods.read_methods import ReadMethods
from hydramem.memory_api.methods.safekeeping_methods import SafekeepingMethods
from hydramem.memory_api.methods.session_methods import SessionMethods
from hydramem.memory_api.methods.write_methods import WriteMethods
from hydramem.memory_api.open import shared_stores
from hydramem.telemetry.recorded_calls import record_calls


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
    """Open a folder in this process; arguments and errors as in `hydramem.connect`, which calls it."""
    folder = FilePath(path).expanduser().resolve()
    default = check_project(project)
    settings = config if isinstance(config, Config) else load_config(config_file(folder, config))
    store = shared_stores.acquire(folder, settings, embedder, reindexing=reindexing, salvage=salvage)
    serves_jobs = not reindexing and not store.read_only
    if serves_jobs and (generator is not None or not store.jobs.served):
        # The jobs have a handle of their own, which stays open when the caller closes this one.
        store.jobs.serve(JobHandlers(store, default, generator).handlers())
    return Memory(store, default, generator)


class Memory(
    SessionMethods,
    ItemMethods,
    DocumentMethods,
    WriteMethods,
    ExchangeMethods,
    ReadMethods,
    GraphMethods,
    CheckMethods,
    GardenMethods,
    SafekeepingMethods,
):
    """A memory, as `connect` returns it. Safe to use from many threads; close it, or use it with `with`."""


record_calls(Memory)
