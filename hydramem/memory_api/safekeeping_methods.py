"""Operations that save a memory against loss: backup and restore."""

import os
from collections.abc import Callable, Sequence
from pathlib import Path

from hydramem.core import version
from hydramem.core.argument_checks import check_name, check_project, check_text
from hydramem.core.config import Config
from hydramem.core.errors import InvalidInputError, ModelError
from hydramem.core.results.upkeep_results import BackedUp, Dumped, Loaded, Restored, Undone
from hydramem.core.time import advance_past
from hydramem.memory_api import handle
from hydramem.memory_api.handle import Handle
from hydramem.memory_api.job_handlers import JobHandlers
from hydramem.memory_api.open import open_store, open_stores
from hydramem.storage.backup.restore import Exchange
from hydramem.storage.changes import in_one_run
from hydramem.storage.exchange.dump import Wish, dump
from hydramem.storage.exchange.load import LoadTarget, load
from hydramem.storage.undo.undo import undo

_MOST_PATH = 4000

Progress = Callable[[int, int], None]


class BackupMethods(Handle):
    """What keeps a copy of the store's files, and goes back to one."""

    def backup(self, to: str | None = None) -> BackedUp:
        """Write a backup of the whole store into one compressed file, and read it again from end to end.

        It holds the graph as it is at one moment, curated files, fitted weights, settings, and the
        gardener's plans and reports; vectors are left out, since `restore` makes them anew. Others read and
        write meanwhile. The file appears when it is whole.

        Args:
            to: A new file, or a folder to put it in; the store's own `backups` where not given, where as
                many are kept as `garden.backups` says, the oldest going first.

        Raises:
            InvalidInputError: The file is there already, or lies in the store; or the store is in memory.
            StorageError: It cannot be written, or does not read back; nothing is left.
        """
        place = None if to is None else _path(to, "to")
        return self._use().back_up(place, created_by=_created_by())

    def restore(self, file: str, *, progress: Progress | None = None) -> Restored:
        """Go back to a backup: the store becomes what it was then, for every project.

        All of the file is checked before anything is touched. What was there is kept in a folder of the
        store, `replaced-` and the time, until a person deletes it. A restore that is interrupted is finished
        by the next opening. On the command line it works on an empty folder and on a damaged store, too.

        Args:
            file: The backup.
            progress: Called with rows whose vectors are made anew, done and to do.

        Raises:
            InvalidInputError: It is no backup, is truncated or changed, or is of the other graph engine;
                nothing was touched.
            SchemaError: A newer version wrote it; nothing was touched.
            StoreBusyError: Somebody else has the store open.
            StorageError: The store cannot be written.
        """
        store = self._use()
        if store.in_memory:
            raise InvalidInputError("restore: a memory without files cannot become a backup's")
        backup = _path(file, "file")
        done = open_stores.restore_open(store, backup, self._go_on_with)
        return _restored(self._use(), backup, done, progress)

    def _go_on_with(self, store: open_store.OpenStore) -> None:
        self._opened = store
        store.jobs.serve(JobHandlers(Handle(store, self._project, self._given_generator)).handlers())


def restore_folder(folder: Path, file: str, config: Config, *, progress: Progress | None = None) -> Restored:
    """Restore a backup into a folder that nobody holds: an empty one, or a store, also a damaged one.

    Raises:
        HydraMemError: As `Saving.restore`.
    """
    backup = _path(file, "file")
    if config.storage.graph == "memory":
        raise InvalidInputError("restore: storage.graph: memory keeps no files")
    done = open_stores.restore_closed(folder, backup, config)
    store = open_stores.acquire(folder, config, None)
    try:
        return _restored(store, backup, done, progress)
    finally:
        open_stores.release(store)


def _restored(store: open_store.OpenStore, file: Path, done: Exchange, progress: Progress | None) -> Restored:
    notes = list[str]()
    vectors = 0
    try:
        found = store.diagnose(fix=True, progress=progress)
        vectors = found.repaired
        notes.extend(found.problems)
    except ModelError as error:
        # The memory itself is back; recall by words works, and the rest follows when the model is there.
        notes.append(f"vectors could not be made: {error}; `hydramem doctor --fix` makes them")
    return Restored(
        file=str(file),
        made_at=done.manifest.made_at,
        folder=str(store.path),
        aside=None if done.aside is None else str(done.aside),
        vectors=vectors,
        notes=tuple(notes),
    )


def _path(text: str, name: str) -> Path:
    try:
        return Path(check_text(text, name=name, most=_MOST_PATH)).expanduser().resolve()
    except (OSError, RuntimeError) as error:  # a loop of links, an unknown user
        raise InvalidInputError(f"{name}: {text[:200]!r} cannot be a path") from error


def _created_by() -> str:
    return f"hydramem {version.__version__}"


_MOST_DUMP_PATH = 4000


class SafekeepingMethods(Handle):
    """What takes writes back, and moves a memory whole."""

    @in_one_run()
    def undo(self, id: str, *, force: bool = False) -> Undone:
        """Take back what one call wrote, as if it had not happened: a run, or one change of it.

        `history` shows the runs of a thing. What was written since, and what came since is in or rests on,
        is left alone and listed. An undo is a run too: undoing it brings everything back. Files beside the
        graph, such as `MEMORY.md` and fitted weights, stay.

        Args:
            id: Of a run or of a change.
            force: Take back too what was written since; what others are in stays all the same.

        Raises:
            NotFoundError: No run and no change has this id.
            InvalidInputError: It was undone already, or wrote nothing that can be undone; nothing is written.
        """
        store = self._use()
        return undo(check_name(id, name="id"), graph=store.graph, mirror=store.mirror, force=force)

    def dump(
        self,
        folder: str,
        *,
        vectors: bool = False,
        projects: Sequence[str] = (),
        sign_key_env: str | None = None,
        progress: Callable[[int, int], None] | None = None,
    ) -> Dumped:
        """Write the whole memory into a new folder, as sorted JSON lines that `load` reads back without loss.

        Everything that the graph holds is there: documents, chunks, entities, relations and their verdicts,
        mentions, links, sessions, what was recalled, the history with what undoing takes, jobs that wait.
        It is as it was at one moment: other writes wait until it is read, recalls go on. The folder appears
        when it is whole, and two dumps of the same memory have the same bytes, on either graph engine.
        Curated files, calibrations and settings are files of the store already, and are not in it.

        Args:
            folder: Where to; a folder that is not there yet, or empty.
            vectors: Write the vectors too; a store with the same embedder takes them instead of making them.
            projects: Only these projects; all where none is named. A command names one by `--project`, too.
            sign_key_env: Name of the environment variable that holds the key to sign the dump with.
            progress: Called with rows written and rows to write.

        Raises:
            InvalidInputError: The folder holds something, or lies in the store.
            NotFoundError: A project that was named holds nothing.
            StorageError: A store cannot be read or the folder cannot be written; nothing is left there.
        """
        store, place = self._use(), _place(folder)
        if place.is_relative_to(store.path):
            raise InvalidInputError(f"folder: {place} lies in the store; name one beside it")
        store.recalls.flush()
        with store.reading() as space:
            wish = Wish(
                projects=tuple(map(check_project, handle.ids(projects))),
                vectors=space.vectors if vectors else None,
                embedder=space.embedder.fingerprint,
                dimension=space.embedder.dimension,
                created_by=f"hydramem {version.__version__}",
                key=_key(sign_key_env),
            )
            return dump(store.graph, place, wish, mirror=store.mirror, progress=progress)

    def load(
        self,
        folder: str,
        *,
        sign_key_env: str | None = None,
        progress: Callable[[int, int], None] | None = None,
    ) -> Loaded:
        """Read a dump into the store, on either graph engine: ids, times and history as they were.

        All of it is checked before anything is written. What the store has already is never changed: rows
        that are the same are passed over, rows that differ are left and counted in `differing`, so loading
        twice does what loading once does, and a load that was interrupted goes on when it is called again.
        To take the dump's side, load it into a new store. Vectors come from the dump where it has those of
        the store's embedder, else they are made anew.

        Args:
            folder: The dump.
            sign_key_env: Name of the environment variable that holds the key it was signed with; a signed
                dump needs it, and with it an unsigned one is refused.
            progress: Called with rows done and rows to do.

        Raises:
            InvalidInputError: The dump is truncated, changed, of another key, or not one; nothing is written.
            SchemaError: A newer version wrote it; nothing is written.
            ModelError: The embedder failed; what is loaded stays.
            StorageError: A store failed; what is loaded stays.
        """
        store, space = self._use(), self._use().space
        place = LoadTarget(
            graph=store.graph,
            commit=store.committing(space),
            one_writer=store.mirror.one_writer,
            embed=space.embedder.embed_documents,
            embedder=space.embedder.fingerprint,
            dimension=space.embedder.dimension,
        )
        done = load(_place(folder), place, key=_key(sign_key_env), progress=progress)
        if (last := store.graph.last_change_at()) is not None:
            advance_past(last)
        store.mirror.settle()
        return done


def _place(folder: str) -> Path:
    try:
        return Path(check_text(folder, name="folder", most=_MOST_DUMP_PATH)).expanduser().resolve()
    except (OSError, RuntimeError) as error:  # a loop of links, an unknown user
        raise InvalidInputError(f"folder: {folder[:200]!r} cannot be a path") from error


def _key(variable: str | None) -> bytes | None:
    """Return the key that a variable holds; an empty one would sign nothing."""
    if variable is None:
        return None
    if not (key := os.environ.get(variable, "")):
        raise InvalidInputError(f"sign_key_env: the environment variable {variable[:80]!r} is not set")
    return key.encode("utf-8", "surrogateescape")
