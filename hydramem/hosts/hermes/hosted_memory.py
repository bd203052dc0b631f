"""The memory of one agent in Hermes: its session, its project, and how its hooks reach the memory."""

import logging
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hydramem.core.errors import HydraMemError
from hydramem.hosts.hermes.curated_mirror import import_files
from hydramem.hosts.hermes.host_connection import HostConnection, in_time, open_memory
from hydramem.hosts.hermes.passive_recall import PassiveRecall
from hydramem.hosts.hermes.session_projects import SessionProjects, named_project, read_message
from hydramem.hosts.hermes.settings import ProviderSettings, ToolPolicy
from hydramem.hosts.hermes.tools import ToolCall
from hydramem.hosts.hermes.turn_log import TurnLog, session_name

if TYPE_CHECKING:
    from hydramem import Memory

log = logging.getLogger(__name__)

_OPEN_SECONDS = 1.0
_CALL_SECONDS = 20.0
_CLOSE_SECONDS = 4.0

_PROJECTS = SessionProjects()
"""Of every agent in this process: a gateway makes one anew for each message of a session."""


class HostedMemory:
    """What an agent has from `initialize` to `shutdown`; safe to use from many threads.

    Args:
        given: A memory that is open, which stays open, or the folder of one; None for the folder of the
            settings.
        settings: Of the provider.
        home: The home folder of Hermes.
        session: The session, as Hermes has it.
        profile: The profile of Hermes; empty for the default one.
        writes: Whether anything may be stored.
    """

    def __init__(
        self,
        given: "Memory | str | Path | None",
        settings: ProviderSettings,
        *,
        home: Path,
        session: str,
        profile: str,
        writes: bool,
    ) -> None:
        self.settings = settings
        self.writes = writes
        self.session = session
        self.recall = PassiveRecall()
        self.turns = TurnLog(self.call)
        self._home = home
        self._profile = profile
        self._given = given
        self._one = threading.Lock()
        is_ours = given is None or isinstance(given, str | Path)
        self.connection = HostConnection(self._open, self._import_files, keeps_open=not is_ours)
        self.connection.start()

    @property
    def captures(self) -> bool:
        """Whether turns are stored."""
        return self.writes and self.settings.capture == "on"

    @property
    def tools(self) -> ToolPolicy:
        """Which tools may be called: none that changes the memory where nothing may be stored."""
        return "read" if self.settings.tools == "all" and not self.writes else self.settings.tools

    def call(self, operation: str, **arguments: Any) -> Any:
        """Run an operation for what Hermes stores.

        Raises:
            HydraMemError: As the operation; also where the memory cannot be opened.
        """
        return self.connection.call(operation, actor="hermes", seconds=_CALL_SECONDS, **arguments)

    def tool_call(self) -> ToolCall:
        """Return what a tool needs to run.

        Raises:
            HydraMemError: The memory cannot be opened.
        """
        name = self.name()

        def call(operation: str, **arguments: Any) -> Any:
            return self.connection.call(
                operation, actor="tool", seconds=_CALL_SECONDS, recalls_for=name, **arguments
            )

        return ToolCall(
            call=call,
            session=name,
            project=_PROJECTS.project(self._key(self.session), None),
            floor=self.recall.floor(self.connection.memory(_CALL_SECONDS)),
        )

    def name(self, session: str = "") -> str:
        """Return the name of a session in the memory; of the current one where none is given."""
        return session_name(session or self.session or "none", profile=self._profile, home=str(self._home))

    def read(self, message: str, session: str, options: Mapping[str, object]) -> tuple[str, str | None]:
        """Return a message without markers, and the project of its call.

        Args:
            message: What the user wrote.
            session: The session in Hermes; empty for the current one.
            options: The other arguments of the call, which may name a project.

        Raises:
            InvalidInputError: What is named can be no project.
        """
        said, named = read_message(message), named_project(options)
        key = self._key(session or self.session)
        return said.text, _PROJECTS.project(key, said.project if named is None else named)

    def switch(self, session: str, before: str, *, anew: bool) -> None:
        """Go on with another session, with the project of the one before unless it begins anew."""
        before, self.session = before or self.session, session or self.session
        if not anew:
            _PROJECTS.continue_as(self._key(self.session), self._key(before))

    def end_session(self) -> None:
        """Store what waits, and have the session distilled in the background where a model is configured."""
        self.turns.flush()
        name = self.name()
        with self._one:
            if name not in self.turns.captured:
                return
            self.turns.captured.discard(name)
        try:
            with self.connection.memory(_OPEN_SECONDS).session(name) as live:
                live.captured = True
        except HydraMemError as error:
            log.warning("the end of %s is not noted: %s", name, error)

    def close(self) -> None:
        """Store what waits and close the memory, in four seconds at most."""

        def finish() -> None:
            self.turns.flush()
            self.connection.close()

        in_time(_CLOSE_SECONDS, finish)

    def _open(self) -> "Memory":
        if self._given is not None and not isinstance(self._given, str | Path):
            return self._given
        return open_memory(folder_of(self._given, self.settings, self._home), self.settings.project)

    def _import_files(self) -> None:
        if not self.writes:
            return
        try:
            import_files(self.call, self._home)
        except HydraMemError as error:
            log.warning("the curated files of Hermes are not imported: %s", error)

    def _key(self, session: str) -> str:
        return self.name(session) if session else ""


def folder_of(given: object, settings: ProviderSettings, home: Path) -> Path:
    """Return the folder of the memory: the one that is given, else that of the settings."""
    return Path(given) if isinstance(given, str | Path) else settings.folder(home)
