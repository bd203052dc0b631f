"""A client: the same methods as `Memory`, run by the process that holds the store."""

import os
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

import msgspec

from hydramem.core.errors import StorageError
from hydramem.core.ids import new_id
from hydramem.sharing.operation_specs import SPECS, Spec
from hydramem.sharing.wire.exact_values import given_once, to_wire, with_full_paths
from hydramem.sharing.wire.messages import CONFIG, END_SESSION, Call
from hydramem.sharing.wire.owner_link import OwnerGoneError, OwnerLink
from hydramem.sharing.wire.values import decoded

if TYPE_CHECKING:
    from hydramem.core.config import Config
    from hydramem.memory_api.memory import Memory
    from hydramem.memory_api.methods.session_methods import LiveSession

_Result = TypeVar("_Result")
_MOST_DEATHS = 2
"""Owners that may die during one call: it might be what kills them."""

_recalls_for: ContextVar[tuple[Path, str | None, bool] | None] = ContextVar("recalls_for", default=None)
"""Of a context: the store, the session that its recalls are recorded for, and whether that is private."""


class Client:
    """A memory that another process holds; safe to use from many threads.

    Where that process leaves or dies, the next call finds the one that holds the store then, or opens it
    here. A write that was under way is repeated with the id of its request, so that it is done once.
    """

    def __init__(
        self, folder: Path, project: str, link: OwnerLink, attach: "Callable[[], OwnerLink | Memory]"
    ) -> None:
        """Use a connection to the owner.

        Args:
            folder: The store.
            project: Project of calls that name none.
            link: The first connection.
            attach: Finds the owner again, or opens the store in this process.
        """
        self._folder = folder
        self._project = project
        self._attach = attach
        self._links = [link]
        self._one = threading.Lock()
        self._opened: Memory | None = None
        self._pid = os.getpid()
        self._closed = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *raised: object) -> None:
        self.close()

    def __getattr__(self, name: str) -> Any:
        spec = SPECS.get(name)
        if spec is None:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        method = partial(self._called, spec)
        method.__doc__, method.__name__ = spec.doc, name  # type: ignore[attr-defined]  # read by `help`
        method.__signature__ = spec.signature  # type: ignore[attr-defined]  # read by `inspect`
        return method

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *SPECS})

    def close(self) -> None:
        """Close the connections; the process that holds the store goes on. A second call does nothing.

        Calls of other threads that run go on to their end.
        """
        if os.getpid() != self._pid:
            return  # a forked child has copies of the connections, and the parent goes on with them
        with self._one:
            self._closed = True
            links, self._links = self._links, []
            opened, self._opened = self._opened, None
        for link in links:
            link.close()
        if opened is not None:
            opened.close()

    @property
    def folder(self) -> Path:
        """The folder of the store."""
        return self._folder

    @property
    def config(self) -> "Config":
        """The settings of the store, which are those of the process that holds it."""
        from hydramem.core.config import Config

        asked = Call(operation=CONFIG, project=self._project)
        return self._repeated(
            asked, lambda value: cast("Config", decoded(value, Config)), lambda memory: memory.config
        )

    @contextmanager
    def during(self, session: str | None, *, private: bool = False) -> Iterator[None]:
        """Record the recalls in this context for a session, by name; None records nothing."""
        token = _recalls_for.set((self._folder, session, private))
        try:
            yield
        finally:
            _recalls_for.reset(token)

    def _recalls_for(self) -> tuple[str | None, bool] | None:
        """Return for which session recalls are recorded in this context; None where it says nothing."""
        said = _recalls_for.get()
        return said[1:] if said is not None and said[0] == self._folder else None

    @contextmanager
    def session(
        self, name: str, *, private: bool = False, project: str | None = None
    ) -> "Iterator[LiveSession]":
        """Open a session, as `Memory.session` does."""
        from hydramem.core.argument_checks import check_name, check_project
        from hydramem.memory_api.methods.session_methods import LiveSession

        own = self._project if project is None else check_project(project)
        live = LiveSession(self, check_name(name, name="session"), private=private, project=own)  # type: ignore[arg-type]  # the same methods
        with self.during(live.name, private=private):
            yield live
        self.end_session(live.name, captured=live.captured, project=own)

    def end_session(self, name: str, *, captured: bool = True, project: str | None = None) -> None:
        """Do what the end of a session does: its turns are distilled later, where a model is configured.

        Args:
            name: Name of the session.
            captured: Whether turns were stored in it.
            project: Project of the session; this handle's own by default.
        """
        own = self._project if project is None else project

        def here(memory: "Memory") -> None:
            from hydramem.memory_api.methods.session_methods import end_session

            end_session(memory, name, captured=captured, project=own)

        ended = {"session": name, "captured": captured, "project": own}
        asked = Call(operation=END_SESSION, arguments=to_wire(ended), project=own)
        self._repeated(asked, lambda value: None, here)

    def call(
        self,
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
        """Run an operation for a surface, as `operations.call` does.

        Args:
            name, arguments, actor, request, session, progress, within: As there.
            returns: Type that the answer is read as; by default that of the result.

        Raises:
            HydraMemError: As the operation; StoreBusyError also where the owner does not answer.
        """
        spec = SPECS[name]
        given = given_once({key: value for key, value in arguments.items() if key != "progress"})
        progress = cast("Callable[..., None] | None", arguments.get("progress")) or progress
        recalls_for = (session, False) if session is not None else self._recalls_for()
        if request is None and spec.effect != "read":
            request = new_id("q")
        message = Call(
            operation=name,
            arguments=to_wire(with_full_paths(given, spec.files)),
            project=self._project,
            actor=actor,
            recalls_for=recalls_for,
            request=request,
            reports=progress is not None,
            within=None if within is None else tuple(within),
        )

        def here(memory: "Memory") -> object:
            from hydramem.operations import BY_NAME, call

            operation = BY_NAME[name]
            own = {**given, "progress": progress} if operation.reports_progress else given
            with _during(memory, recalls_for):
                return call(memory, operation, own, actor=actor, request=request, within=within)

        return self._repeated(
            message, lambda value: decoded(value, returns or spec.result_type), here, progress
        )

    def _called(self, spec: Spec, *args: object, **options: object) -> object:
        progress = options.pop("progress", None) if spec.reports_progress else None
        given = spec.bound(*args, **options)
        return self.call(spec.name, {**given, "progress": progress}, actor="python")

    def _repeated(
        self,
        message: Call,
        read: Callable[[msgspec.Raw], _Result],
        here: "Callable[[Memory], _Result]",
        progress: Callable[..., None] | None = None,
    ) -> _Result:
        """Have a call done by the owner, or here where this process has become it."""
        deaths = 0
        while True:
            link = self._link()
            if not isinstance(link, OwnerLink):
                return here(link)
            try:
                value = link.call(message, progress)
            except OwnerGoneError as error:
                deaths += error.begun
                if deaths >= _MOST_DEATHS:
                    raise StorageError(
                        f"{self._folder}: the process that holds the store has died {deaths} times during "
                        f"{message.operation}; what was written before is stored"
                    ) from error
                continue
            finally:
                self._give_back(link)
            return read(value)

    def _link(self) -> "OwnerLink | Memory":
        """Return a connection that no call uses, a new one, or the memory that is open here."""
        if os.getpid() != self._pid:
            raise StorageError(
                f"{self._folder}: was opened before a fork; connect again in the child, or spawn it"
            )
        with self._one:
            if self._closed:
                raise self._closed_error()
            while self._links:
                link = self._links.pop()
                if link.is_open():
                    return link
                link.close()
            if self._opened is not None:
                return self._opened
        found = self._attach()  # many threads at once: one that waits for a silent owner delays no other
        return found if isinstance(found, OwnerLink) else self._kept(found)

    def _kept(self, found: "Memory") -> "Memory":
        """Keep the memory that is open here now, of which threads may have opened several handles."""
        with self._one:
            if not self._closed and self._opened is None:
                self._opened = found
            kept = self._opened
        if kept is not found:
            found.close()
        if kept is None:
            raise self._closed_error()
        return kept

    def _closed_error(self) -> StorageError:
        return StorageError(f"{self._folder}: this handle is closed; connect again")

    def _give_back(self, link: OwnerLink) -> None:
        """Keep a connection for the next call; one in the middle of a call is closed, which cancels it."""
        with self._one:
            if link.is_idle and not self._closed:
                self._links.append(link)
                return
        link.close()


def _during(memory: "Memory", recalls_for: tuple[str | None, bool] | None) -> AbstractContextManager[None]:
    """Record recalls for the session of a client's context."""
    return nullcontext() if recalls_for is None else memory.during(recalls_for[0], private=recalls_for[1])
