"""The process of the page: its port, its token, its signals."""

import asyncio
import secrets
import signal
import socket
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import TYPE_CHECKING

import uvicorn

from hydramem.core.errors import InvalidInputError
from hydramem.view.page_app import PageRoutes, page_app
from hydramem.view.page_calls import PageCalls

if TYPE_CHECKING:
    from hydramem import Memory

_ADDRESS = "127.0.0.1"
_SECONDS_FOR_REQUESTS = 1
"""How long requests that are under way may take when the server is asked to end."""

_SECONDS_FOR_JOBS = 0.5
_TOKEN_BYTES = 24
_BACKLOG = 128


class PageServer:
    """Serves the page of a memory, on this machine alone.

    Args:
        memory: The memory, open here or elsewhere; it stays open.
        project: The project that the page shows first.
        port: Port to listen on; a free one by default.

    Attributes:
        address: The address of the page; its fragment has the token.
        has_ended: Whether no job runs; after `serve`, one may that reports nothing, until the process ends.

    Raises:
        InvalidInputError: The port is taken, or there is no such port.
    """

    def __init__(self, memory: "Memory", *, project: str, port: int | None = None) -> None:
        self._listener = _listener(port)
        self._calls = PageCalls(memory, project=project)
        self._port = self._listener.getsockname()[1]
        self._token = secrets.token_urlsafe(_TOKEN_BYTES)
        self._process: _PageProcess | None = None
        self.has_ended = True
        self.address = f"http://{_ADDRESS}:{self._port}/#token={self._token}"

    def serve(self, ready: Callable[[str], None] = lambda address: None) -> None:
        """Answer requests until `stop`; in the main thread of a program also until SIGINT or SIGTERM.

        Streams end at once then, calls that are under way have a second or two, and what was stored stays.

        Args:
            ready: Called with the address when the page can be opened.
        """
        try:
            asyncio.run(self._serve(ready))
        finally:
            self._listener.close()

    def stop(self) -> None:
        """End `serve`; called from any thread once the page can be opened."""
        if self._process is not None:
            self._process.handle_exit(signal.SIGTERM, None)

    async def _serve(self, ready: Callable[[str], None]) -> None:
        routes = PageRoutes(self._calls)
        config = uvicorn.Config(
            page_app(routes, port=self._port, token=self._token),
            log_config=None,
            access_log=False,
            server_header=False,
            lifespan="off",
            timeout_graceful_shutdown=_SECONDS_FOR_REQUESTS,
        )
        self._process = _PageProcess(config, routes.closing)
        self._listener.listen(_BACKLOG)  # from now on connections wait until the server accepts them
        ready(self.address)
        await self._process.serve(sockets=[self._listener])
        self.has_ended = await asyncio.to_thread(routes.jobs.close, _SECONDS_FOR_JOBS)


class _PageProcess(uvicorn.Server):
    """Uvicorn's server, which ends streams when it is asked to end, and returns then.

    Uvicorn's own raises the signal anew once it has ended, which would kill the process before the store is
    closed.
    """

    def __init__(self, config: uvicorn.Config, closing: asyncio.Event) -> None:
        super().__init__(config)
        self._closing = closing
        self._loop = asyncio.get_running_loop()

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Handle the signals that ask for the end, where this thread can."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        before = {each: signal.signal(each, self.handle_exit) for each in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        finally:
            for each, handler in before.items():
                signal.signal(each, handler)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """End the server; a second SIGINT does not wait for what is under way."""
        super().handle_exit(sig, frame)
        self._loop.call_soon_threadsafe(self._closing.set)


def _listener(port: int | None) -> socket.socket:
    """Return a socket that has a port of this machine.

    Raises:
        InvalidInputError: It is taken, or there is no such port.
    """
    # asyncio sends small packets at once only where the protocol is named.
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        if sys.platform != "win32":  # there, it would let two servers have one port
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((_ADDRESS, port or 0))
    except (OSError, OverflowError) as error:
        listener.close()
        why = error.strerror if isinstance(error, OSError) else "a port is 1 to 65535"
        raise InvalidInputError(f"port: {port} cannot be used: {why}") from error
    return listener
