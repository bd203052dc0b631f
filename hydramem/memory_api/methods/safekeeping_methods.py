"""Operations that protect a memory against loss: undo, dump and load, backup and restore; and erase."""

import os
from collections.abc import Callable, Sequence
from pathlib import Path

from hydramem.core import version
from hydramem.core.argument_checks import check_name, check_project
from hydramem.core.config import Config
from hydramem.core.errors import InvalidInputError, ModelError
from hydramem.core.ids import new_id
from hydramem.core.results.erasure_results import ErasureReceipt
from hydramem.core.results.upkeep_results import BackedUp, Dumped, Loaded, Restored, Undone
from hydramem.core.time import advance_past, now
from hydramem.memory_api import arguments
from hydramem.memory_api.handle import Handle
from hydramem.memory_api.job_handlers import JobHandlers
from hydramem.memory_api.open import open_store, shared_stores
from hydramem.memory_api.write_operation import write_operation
from hydramem.storage.backup.restore import Exchange
from hydramem.storage.changes import current_actor

_CREATED_BY = f"hydramem {version.__version__}"
Progress = Callable[[int, int], None]


class SafekeepingMethods(Handle):
    """Takes writes back, and saves and restores the memory."""

    @write_operation
    def undo(self, id: str, *, force: bool = False) -> Undone:
        """Undo what one call wrote: a run, or one change of it.

        `history` shows the runs of a thing. Rows that were changed since, or that newer rows depend on, stay
        and are listed. An undo is a run too: undoing it restores everything. Files outside the graph, such as
        `MEMORY.md` and fitted weights, are not changed.

        Args:
            id: Id of a run or of a change.
            force: Also undo rows that were changed since; rows that others depend on stay.

        Raises:
            NotFoundError: No run and no change has this id.
            InvalidInputError: It is undone already, or has nothing to undo; nothing is written.
        """
        from hydramem.storage.undo.undo import undo

        store = self._use()
        return undo(check_name(id, name="id"), graph=store.graph, mirror=store.mirror, force=force)

    @write_operation
    def erase(
        self,
        ids: Sequence[str] = (),
        *,
        whole_project: bool = False,
        with_mentions: bool = False,
        dry_run: bool = False,
        project: str | None = None,
        progress: Progress | None = None,
    ) -> ErasureReceipt:
        """Erase memories, documents, entities or a project for good; `forget` only archives.

        They go from graph, vectors, full text, history, undo, jobs, caches, sessions and the store's own
        backups, with what was made from them alone: earlier versions, distilled facts, summaries, relations
        and entities. All files are written anew without them, which takes as long as loading the store.
        Nothing brings them back. See `dry_run` first.

        Args:
            ids: Ids of memories, passages, documents or entities.
            whole_project: Instead of ids: everything in the project.
            with_mentions: Also the memories and passages that name the entities.
            dry_run: Return what would go, and erase nothing.
            project: The project; this handle's own by default.
            progress: Called with the rows done and the total.

        Raises:
            InvalidInputError: Both ids and `whole_project` are given, or neither; nothing is erased.
            NotFoundError: An id is not in the store, or the project holds nothing; nothing is erased.
            StoreBusyError: Another handle of this process has the store open; nothing is erased.
            DiskFullError: There is no room for a second copy of the store; nothing is erased.
            StorageError: A file cannot be read or written; the message says whether anything was erased.
        """
        from hydramem.erase.erase import preview
        from hydramem.erase.erasure import ErasureRequest

        store, named = self._use(), arguments.ids(ids)
        if bool(named) == whole_project:
            raise InvalidInputError("ids: give them, or else whole_project")
        request = ErasureRequest(
            ids=named,
            project=self._name(project),
            whole_project=whole_project,
            with_mentions=with_mentions,
            at=now(),
            actor=current_actor(),
            receipt=new_id("x"),
        )
        store.recalls.flush()
        with store.mirror.one_writer:
            seen = preview(store.graph, request)  # an unknown id is an error before the store is closed
        return seen if dry_run else shared_stores.erase_open(store, request, self._adopt, progress)

    def dump(
        self,
        folder: str,
        *,
        vectors: bool = False,
        projects: Sequence[str] = (),
        sign_key_env: str | None = None,
        progress: Progress | None = None,
    ) -> Dumped:
        """Write the whole memory into a new folder, as sorted JSON lines that `load` reads without loss.

        It holds everything in the graph at one moment: documents, chunks, entities, relations and verdicts,
        mentions, links, sessions, recalls, the history with what undo needs, and pending jobs. Other writes
        wait while it is read; recalls do not. The folder appears when it is complete. Two dumps of one memory
        have the same bytes on either graph engine. Curated files, calibrations and settings are plain files
        of the store and are not included.

        Args:
            folder: A folder that does not exist yet or is empty.
            vectors: Also write the vectors; a store with the same embedder reads them instead of computing
                them.
            projects: Only these projects; all by default. On the command line `--project` names one too.
            sign_key_env: Name of the environment variable that holds the key to sign the dump with.
            progress: Called with the rows written and the total.

        Raises:
            InvalidInputError: The folder is not empty, or is in the store.
            NotFoundError: A named project holds nothing.
            StorageError: A store cannot be read or the folder cannot be written; no folder is left.
        """
        from hydramem.storage.exchange.dump import DumpRequest, dump

        store, place = self._use(), arguments.path_of(folder, "folder")
        if place.is_relative_to(store.path):
            raise InvalidInputError(f"folder: {place} is in the store; name a folder outside it")
        store.recalls.flush()
        with store.reading() as space:
            wish = DumpRequest(
                projects=tuple(map(check_project, arguments.ids(projects))),
                vectors=space.vectors if vectors else None,
                embedder=space.embedder.fingerprint,
                dimension=space.embedder.dimension,
                created_by=_CREATED_BY,
                key=_key(sign_key_env),
            )
            return dump(store.graph, place, wish, mirror=store.mirror, progress=progress)

    @write_operation
    def load(
        self, folder: str, *, sign_key_env: str | None = None, progress: Progress | None = None
    ) -> Loaded:
        """Read a dump into the store, on either graph engine, with its ids, times and history.

        The whole dump is checked first. Rows in the store are never changed: equal rows are skipped, and rows
        that differ are left and counted in `differing`. So a second load changes nothing, and an interrupted
        one continues when it is called again. To prefer the rows of the dump, load it into a new store.
        Vectors of the store's own embedder are read from the dump; others are computed.

        Args:
            folder: Folder of the dump.
            sign_key_env: Name of the environment variable that holds the key of the signature. A signed dump
                needs it; with it an unsigned dump is refused.
            progress: Called with the rows done and the total.

        Raises:
            InvalidInputError: The dump is truncated or changed, has another key, or is not a dump; nothing is
                written.
            SchemaError: A newer version wrote it; nothing is written.
            ModelError: The embedder failed; loaded rows stay.
            StorageError: A store failed; loaded rows stay.
        """
        from hydramem.storage.exchange.load import LoadTarget, load

        store, space = self._use(), self._use().space
        target = LoadTarget(
            graph=store.graph,
            commit=store.committing(space),
            one_writer=store.mirror.one_writer,
            embed=space.embedder.embed_documents,
            embedder=space.embedder.fingerprint,
            dimension=space.embedder.dimension,
        )
        done = load(arguments.path_of(folder, "folder"), target, key=_key(sign_key_env), progress=progress)
        if (last := store.graph.last_change_at()) is not None:
            advance_past(last)
        store.mirror.maintain_after_bulk()
        return done

    def backup(self, to: str | None = None) -> BackedUp:
        """Write a backup of the whole store into one compressed file, and read it back completely.

        It holds the graph at one moment, curated files, fitted weights, settings, and the gardener's plans
        and reports. Vectors are left out; `restore` computes them. Other reads and writes continue. The file
        appears when it is complete.

        Args:
            to: A new file, or a folder for it; by default the store's own `backups`, which keeps the newest
                ones as `garden.backups` says.

        Raises:
            InvalidInputError: The file exists, its folder does not, it is in the store, or the store is in
                memory.
            StorageError: It cannot be written or read back; no file is left.
        """
        return self._use().back_up(
            None if to is None else arguments.path_of(to, "to"), created_by=_CREATED_BY
        )

    def restore(self, file: str, *, progress: Progress | None = None) -> Restored:
        """Restore a backup: the store becomes what it was then, in every project.

        The whole file is checked first. The content before is kept in a folder of the store, `replaced-` and
        the time, until a person deletes it. The next opening finishes an interrupted restore. The command
        also works on an empty folder and on a damaged store.

        Args:
            file: The backup.
            progress: Called with the rows whose vectors are computed and the total.

        Raises:
            InvalidInputError: The file is not a backup, is truncated or changed, or is of the other graph
                engine; nothing is changed.
            SchemaError: A newer version wrote it; nothing is changed.
            StoreBusyError: Another handle or process has the store open.
            StorageError: The store cannot be written.
        """
        store = self._use()
        if not store.has_graph_file:
            raise _no_files(store.config)
        store.require_writable()
        backup = arguments.path_of(file, "file")
        done = shared_stores.restore_open(store, backup, self._adopt)
        return _restored(self._use(), backup, done, progress)

    def _adopt(self, store: open_store.OpenStore) -> None:
        """Continue with another open store."""
        self._opened = store
        store.jobs.serve(JobHandlers(store, self._project, self._given_generator).handlers())


def restore_folder(folder: Path, file: str, config: Config, *, progress: Progress | None = None) -> Restored:
    """Restore a backup into a folder that is not open: an empty one, or a store, also a damaged one.

    Raises:
        HydraMemError: As `Memory.restore`.
    """
    backup = arguments.path_of(file, "file")
    if config.storage.graph in ("memory", "postgres"):
        raise _no_files(config)
    done = shared_stores.restore_closed(folder, backup, config)
    store = shared_stores.acquire(folder, config, None)
    try:
        return _restored(store, backup, done, progress)
    finally:
        shared_stores.release(store)


def _no_files(config: Config) -> InvalidInputError:
    """Return the refusal of a restore where the store is not a folder, with what to do instead."""
    instead = "pg_restore reads what pg_dump wrote, and " if config.storage.graph == "postgres" else ""
    return InvalidInputError(
        f"restore: storage.graph: {config.storage.graph} keeps no files to replace; {instead}`hydramem load` "
        "reads a dump"
    )


def _restored(store: open_store.OpenStore, file: Path, done: Exchange, progress: Progress | None) -> Restored:
    notes = list[str]()
    vectors = 0
    try:
        found = store.diagnose(fix=True, progress=progress)
        vectors = found.repaired
        notes.extend(found.problems)
    except ModelError as error:
        # The graph is restored: recall by words works, and by meaning once the model is there.
        notes.append(f"vectors cannot be computed: {error}; `hydramem doctor --fix` computes them later")
    return Restored(
        file=str(file),
        made_at=done.manifest.made_at,
        folder=str(store.path),
        aside=None if done.aside is None else str(done.aside),
        vectors=vectors,
        notes=tuple(notes),
    )


def _key(variable: str | None) -> bytes | None:
    """Return the key in an environment variable; an empty one would not sign."""
    if variable is None:
        return None
    if not (key := os.environ.get(variable, "")):
        raise InvalidInputError(f"sign_key_env: the environment variable {variable[:80]!r} is not set")
    return key.encode("utf-8", "surrogateescape")
