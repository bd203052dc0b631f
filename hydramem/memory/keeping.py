"""Operations that keep the memory: undo, dump, load."""

import os
from collections.abc import Callable, Sequence
from pathlib import Path

from hydramem.core import version
from hydramem.core.argument_checks import check_name, check_project, check_text
from hydramem.core.errors import InvalidInputError
from hydramem.core.results.upkeep_results import Dumped, Loaded, Undone
from hydramem.core.time import advance_past
from hydramem.memory import arguments
from hydramem.memory.handle import Handle
from hydramem.storage.changes import in_one_run
from hydramem.storage.exchange.dump import Wish, dump
from hydramem.storage.exchange.load import LoadTarget, load
from hydramem.storage.undo.undo import undo

_MOST_PATH = 4000


class Keeping(Handle):
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
                projects=tuple(map(check_project, arguments.ids(projects))),
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
        return Path(check_text(folder, name="folder", most=_MOST_PATH)).expanduser().resolve()
    except (OSError, RuntimeError) as error:  # a loop of links, an unknown user
        raise InvalidInputError(f"folder: {folder[:200]!r} cannot be a path") from error


def _key(variable: str | None) -> bytes | None:
    """Return the key that a variable holds; an empty one would sign nothing."""
    if variable is None:
        return None
    if not (key := os.environ.get(variable, "")):
        raise InvalidInputError(f"sign_key_env: the environment variable {variable[:80]!r} is not set")
    return key.encode("utf-8", "surrogateescape")
