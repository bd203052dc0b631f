"""What `connect` is asked to open: a connection to the process that holds the folder, or the store itself."""

import os
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, cast

from hydramem.core.errors import EmbeddingMismatchError, InvalidInputError, StoreBusyError
from hydramem.core.settings.environment import make_store_folder
from hydramem.sharing.wire.owner_link import OwnerGoneError, OwnerLink
from hydramem.storage.files.folder_lock import busy_error, is_held_here
from hydramem.storage.files.owner_note import read_note

if TYPE_CHECKING:
    from hydramem.core.config import Config
    from hydramem.llm.contracts import Embedder, Generator
    from hydramem.memory_api.memory import Memory
    from hydramem.sharing.background import OwnerStarter

_POLL_SECONDS = 0.01
_SECONDS_TO_LISTEN = 1.0
"""How long the process that took a lock may take to listen; one that shares nothing never does."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Opening:
    """What `connect` is asked to open; clients attach again by it."""

    folder: Path
    project: str
    config: "Config | str | Path | None" = None
    embedder: "Embedder | None" = None
    generator: "Generator | None" = None
    reindexing: bool = False
    salvage: bool = False
    background: bool | None = False

    def attach(self) -> "OwnerLink | Memory":
        """Connect to the owner of the folder, or become it.

        Raises:
            StoreBusyError: Another process holds the folder and does not serve it.
            HydraMemError: The store cannot be opened.
        """
        holder, since = None, time.monotonic()
        starter: OwnerStarter | None = None
        while True:
            if is_held_here(self.folder) or self._is_for_itself():
                memory = self._opened()
                if not self._lacks_server(memory):
                    return memory
                memory.close()
                continue
            note = read_note(self.folder)
            if note is not None and note.address:
                with suppress(OwnerGoneError):  # it leaves, or was killed
                    return OwnerLink(self.folder, note)
            try:
                if starter is None and not self._is_for_background():
                    return self._owned()
                starter = starter or self._starter()
                starter.start()
            except StoreBusyError:
                # Somebody was quicker: it listens in a moment, unless it shares nothing.
                note = read_note(self.folder)
                listens = note is not None and note.address and note.is_alive
                waits = note.wait_seconds if note is not None and listens else _SECONDS_TO_LISTEN
                if note != holder:  # another one holds it by now, or has begun to listen
                    holder, since = note, time.monotonic()
                if time.monotonic() - since > waits:
                    raise self._refused() from None
            time.sleep(_POLL_SECONDS)

    def check_background(self) -> None:
        """Check that a process in the background can open what is asked for.

        Raises:
            InvalidInputError: Only this process can.
        """
        if self.background and self._is_for_this_process():
            raise InvalidInputError(
                "background: a process in the background can be given no models, no settings but a file of "
                "them, no `reindexing` and no `salvage`"
            )

    def _is_for_this_process(self) -> bool:
        """Whether something is given that no process in the background can be given."""
        is_file = self.config is None or isinstance(self.config, str | Path)
        models = (self.embedder, self.generator)
        return self.reindexing or self.salvage or not is_file or any(one is not None for one in models)

    def _is_for_background(self) -> bool:
        """Whether another process is to be started for a store that nobody holds.

        Raises:
            InvalidInputError: It must be, and the store is not shared.
        """
        if self.background is False or self._is_for_this_process():
            return False
        from hydramem.core.settings.config_loading import config_file, load_sharing
        from hydramem.storage.files.read_only import is_read_only

        if is_read_only(self.folder):
            return False
        sharing = load_sharing(config_file(self.folder, self._file))
        if self.background and not sharing.enabled:
            raise InvalidInputError(
                f"{self.folder}: `sharing` is off in its settings, so nothing can hold it in the background"
            )
        return sharing.enabled and (self.background is True or sharing.background == "always")

    def _starter(self) -> "OwnerStarter":
        from hydramem.sharing.background import OwnerStarter

        return OwnerStarter(self.folder, self._file)

    def _is_for_itself(self) -> bool:
        """Whether the settings that are given name a store in memory, which no folder holds."""
        if self.config is not None and not isinstance(self.config, str | Path):
            return self.config.storage.graph == "memory"
        return os.environ.get("HYDRAMEM_STORAGE_GRAPH") == "memory"

    def _settings(self) -> "Config":
        if self._file is None and self.config is not None:
            return cast("Config", self.config)
        from hydramem.core.settings.config_loading import config_file, load_config

        return load_config(config_file(self.folder, self._file))

    @property
    def _file(self) -> str | Path | None:
        return self.config if isinstance(self.config, str | Path) else None

    def _opened(self, settings: "Config | None" = None) -> "Memory":
        """Open the store in this process, which shares what it has open already."""
        from hydramem.memory_api.memory import connect as open_here

        return open_here(
            self.folder,
            project=self.project,
            config=settings or self.config,
            embedder=self.embedder,
            generator=self.generator,
            reindexing=self.reindexing,
            salvage=self.salvage,
        )

    def _can_be_shared(self, settings: "Config") -> bool:
        from hydramem.storage.files.read_only import is_read_only

        in_memory = settings.storage.graph == "memory"
        return settings.sharing.enabled and not in_memory and not is_read_only(self.folder)

    def _lacks_server(self, memory: "Memory") -> bool:
        """Whether what was to be shared with another handle here was closed by that one meanwhile.

        Then the store was opened anew, without anything that serves other processes.
        """
        from hydramem.memory_api.handle import is_only_handle
        from hydramem.sharing.election import has_seat

        return is_only_handle(memory) and self._can_be_shared(memory.config) and not has_seat(self.folder)

    def _owned(self) -> "Memory":
        """Take the folder, open it and serve it.

        Raises:
            StoreBusyError: Another process holds it.
        """
        from hydramem.storage.files.durable_files import storage_errors

        settings = self._settings()
        if not self._can_be_shared(settings):
            return self._opened(settings)
        from hydramem.memory_api.handle import call_at_last_close
        from hydramem.sharing.election import take_seat

        with storage_errors(self.folder, "cannot be created"):
            make_store_folder(self.folder)
        seat = take_seat(self.folder, settings.sharing)
        from hydramem.sharing.serve_clients import OwnerServer

        server = OwnerServer(seat, settings.sharing)
        try:
            memory = self._opened(settings)
        except BaseException:
            server.stop()
            server.give_back()
            raise
        call_at_last_close(memory, server.stop, server.give_back)
        server.serve(memory)
        return memory

    def _refused(self) -> StoreBusyError:
        return StoreBusyError(
            f"{busy_error(self.folder)}, or let it share the folder (`sharing`), as `hydramem serve` does"
        )

    def check_client(self, link: OwnerLink) -> None:
        """Check that the owner can do what is asked of this process.

        Raises:
            StoreBusyError: It cannot use what was given here.
            EmbeddingMismatchError: It has another embedder.
        """
        if self.generator is not None:
            raise StoreBusyError(
                f"{self.folder}: held by {link.note}, which cannot use the generator given here; close it "
                "there first, or configure the model by `llm`"
            )
        if self.embedder is not None:
            self._check_embedder(link)

    def _check_embedder(self, link: OwnerLink) -> None:
        from hydramem.sharing.wire.messages import EMBEDDER, Call
        from hydramem.sharing.wire.values import decoded

        asked = Call(operation=EMBEDDER, project=self.project)
        stored, given = decoded(link.call(asked), str), self.embedder
        if given is not None and given.fingerprint != stored:
            raise EmbeddingMismatchError(f"{self.folder}: is open with {stored}, not {given.fingerprint}")
