"""A store that this process holds and serves, and clients of it over real sockets in the same process."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import hydramem
from hydramem.core.config import Config, SharingConfig
from hydramem.memory_api.memory import connect as open_here
from hydramem.sharing.client import Client
from hydramem.sharing.election import take_seat
from hydramem.sharing.serve_clients import OwnerServer
from hydramem.sharing.wire.owner_link import OwnerLink
from hydramem.storage.files.owner_note import OwnerNote, read_note
from tests.engines import DISK_ENGINE
from tests.faults.stores import CONFIG

WAIT_SECONDS = 10.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Served:
    """An owner in this process."""

    folder: Path
    memory: hydramem.Memory
    server: OwnerServer
    settings: Config

    @property
    def note(self) -> OwnerNote:
        """Where the owner answers."""
        note = read_note(self.folder)
        assert note is not None
        return note

    def link(self) -> OwnerLink:
        """Return a new connection."""
        return OwnerLink(self.folder, self.note)

    def client(self, project: str = "default") -> Client:
        """Return a client, which finds the owner again where a connection is lost."""
        return Client(self.folder, project, self.link(), self.link)


def settings(wait_seconds: float = WAIT_SECONDS, engine: str = DISK_ENGINE) -> Config:
    """Return settings of small stores."""
    storage = replace(CONFIG.storage, graph=engine)  # type: ignore[arg-type]
    return replace(CONFIG, storage=storage, sharing=SharingConfig(wait_seconds=wait_seconds))


@contextmanager
def served(
    folder: Path, *, wait_seconds: float = WAIT_SECONDS, whole: bool = False, engine: str = DISK_ENGINE
) -> Iterator[Served]:
    """Open a store and serve it.

    Args:
        folder: The store.
        wait_seconds: How long others wait.
        whole: The owner is there for clients alone.
        engine: A store in memory is served too, as long as nobody opens it by itself.
    """
    chosen = settings(wait_seconds, engine)
    folder.mkdir(parents=True, exist_ok=True)
    server = OwnerServer(take_seat(folder.resolve(), chosen.sharing), chosen.sharing)
    memory = open_here(folder, config=chosen)
    server.serve(memory, whole=whole)
    try:
        yield Served(folder=folder.resolve(), memory=memory, server=server, settings=chosen)
    finally:
        server.stop()
        memory.close()
        server.give_back()
