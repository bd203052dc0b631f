"""`connect`: open a folder as a memory, here or through the process that holds it already."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from hydramem.core.argument_checks import check_project
from hydramem.sharing.attach import Opening
from hydramem.sharing.client import Client
from hydramem.sharing.wire.owner_link import OwnerGoneError, OwnerLink
from hydramem.storage.files.owner_note import read_note

if TYPE_CHECKING:
    from hydramem.core.config import Config
    from hydramem.llm.contracts import Embedder, Generator
    from hydramem.memory_api.memory import Memory


def connect(
    path: str | Path,
    *,
    project: str = "default",
    config: "Config | str | Path | None" = None,
    embedder: "Embedder | None" = None,
    generator: "Generator | None" = None,
    reindexing: bool = False,
    salvage: bool = False,
    background: bool | None = False,
) -> "Memory":
    """Open a folder as a memory; a missing folder is created.

    Any number of processes can use one folder at once. The first one holds the store, and serves the others
    while it has it open; what it returns to them has the same methods, and runs them there. When it leaves or
    dies, one of the others opens the store. `sharing: off` in the settings leaves the folder to one process.
    A store whose folder cannot be written is opened for reading: writes raise ReadOnlyError.
    Handles of one process on the same real path share the open store.

    Args:
        path: The store folder.
        project: Project that calls without a `project` read and write.
        config: Settings, or a YAML file of them; None reads `config.yml` in the folder, if there is one.
            Where another process holds the store, its settings apply.
        embedder: Computes the vectors; None chooses as `embedding.model` says.
        generator: Answers prompts; None chooses as `llm` says.
        reindexing: Open with the store's own embedder instead of the configured one, so that `reindex` can
            change it.
        salvage: Also open a store that has lost writes, with what can still be read: its log is damaged, or
            its graph is older than its vectors or gone. Damaged files are kept under another name, and
            `doctor` with `salvage` writes what only the vectors hold to a file.
        background: This process never holds the store: where no other does, one is started in the background,
            which serves all others and leaves when it is idle. None does so where `sharing.background` is
            always, as the command line. A store whose folder cannot be written is opened here all the same.

    Raises:
        ConfigError: A setting is wrong.
        InvalidInputError: `background` is given with what only this process can use, or for a store that is
            not shared.
        StoreBusyError: Another process holds the folder and does not share it, or does not answer; or a
            generator is given, which that process cannot use.
        EmbeddingMismatchError: The folder holds vectors of another embedder.
        SchemaError: A newer version wrote the folder.
        StorageError: The folder cannot be read or written, or the store has lost writes.
    """
    opening = Opening(
        folder=Path(path).expanduser().resolve(),
        project=check_project(project),
        config=config,
        embedder=embedder,
        generator=generator,
        reindexing=reindexing,
        salvage=salvage,
        background=background,
    )
    opening.check_background()
    found = opening.attach()
    if not isinstance(found, OwnerLink):
        return found
    try:
        opening.check_client(found)
    except BaseException:
        found.close()
        raise
    return cast("Memory", Client(opening.folder, opening.project, found, opening.attach))


@contextmanager
def client_of(folder: Path, project: str) -> "Iterator[Memory | None]":
    """Yield a client of the process that holds a store; None where none does, or it does not serve others.

    Raises:
        StoreBusyError: It does not answer, or has another protocol.
    """
    opening = Opening(folder=folder, project=project)
    note = read_note(folder)
    link = None
    if note is not None and note.address:
        with suppress(OwnerGoneError):
            link = OwnerLink(folder, note)
    if link is None:
        yield None
        return
    with Client(folder, project, link, opening.attach) as client:
        yield cast("Memory", client)


def end_session(memory: "Memory", session: str, *, project: str) -> None:
    """Do what the end of a session does, on a memory that is open here or elsewhere.

    Its turns are distilled later, where a model is configured.

    Args:
        memory: What `connect` returned.
        session: Name of the session.
        project: Its project.
    """
    client: object = memory
    if isinstance(client, Client):
        client.end_session(session, project=project)
        return
    from hydramem.memory_api.methods.session_methods import end_session as end_here

    end_here(memory, session, captured=True, project=project)


def call(
    memory: "Memory",
    name: str,
    arguments: Mapping[str, object],
    *,
    actor: str,
    request: str | None = None,
    session: str | None = None,
    progress: Callable[..., None] | None = None,
    returns: Any = None,
    within: Sequence[str] | None = None,
) -> object:
    """Run an operation of the table for a surface, on a memory that is open here or elsewhere.

    Args:
        memory: What `connect` returned.
        name: The operation.
        arguments: Arguments of the method by name.
        actor: The surface: `cli`, `mcp` or `view`.
        request: Id of the request; a repeated request is done once.
        session: Name of the session that recalls are recorded for.
        progress: Called as the operation reports its progress.
        returns: Type with some attributes of the result, for a caller that reads no others and has to start
            quickly: another process answers with that, a memory that is open here with the result itself.
        within: Projects that the call may touch, as in `operations.call`.
    """
    client: object = memory
    if isinstance(client, Client):
        return client.call(
            name,
            arguments,
            actor=actor,
            request=request,
            session=session,
            progress=progress,
            returns=returns,
            within=within,
        )
    from hydramem.operations import BY_NAME
    from hydramem.operations import call as call_here

    operation = BY_NAME[name]
    given = {**arguments, "progress": progress} if operation.reports_progress and progress else arguments
    return call_here(memory, operation, given, actor=actor, request=request, session=session, within=within)
