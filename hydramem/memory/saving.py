"""Operations that save a memory against loss: backup and restore."""

from collections.abc import Callable
from pathlib import Path

from hydramem import opened
from hydramem.core import version
from hydramem.core.argument_checks import check_text
from hydramem.core.config import Config
from hydramem.core.errors import InvalidInputError, ModelError
from hydramem.core.results.upkeep_results import BackedUp, Restored
from hydramem.memory.following import Following
from hydramem.memory.handle import Handle
from hydramem.storage.backup.restore import Exchange

_MOST_PATH = 4000

Progress = Callable[[int, int], None]


class Saving(Handle):
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
        done = opened.exchanged(store, backup, self._go_on_with)
        return _restored(self._use(), backup, done, progress)

    def _go_on_with(self, store: opened.OpenStore) -> None:
        self._opened = store
        store.jobs.serve(Following(Handle(store, self._project, self._given_generator)).handlers())


def restore_folder(folder: Path, file: str, config: Config, *, progress: Progress | None = None) -> Restored:
    """Restore a backup into a folder that nobody holds: an empty one, or a store, also a damaged one.

    Raises:
        HydraMemError: As `Saving.restore`.
    """
    backup = _path(file, "file")
    if config.storage.graph == "memory":
        raise InvalidInputError("restore: storage.graph: memory keeps no files")
    done = opened.exchange(folder, backup, config)
    store = opened.acquire(folder, config, None)
    try:
        return _restored(store, backup, done, progress)
    finally:
        opened.release(store)


def _restored(store: opened.OpenStore, file: Path, done: Exchange, progress: Progress | None) -> Restored:
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
