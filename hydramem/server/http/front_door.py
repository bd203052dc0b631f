"""The front door of the HTTP server: health, limits and the stop, before the protocol sees a request."""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, MutableMapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from hydramem.core.errors import HydraMemError
from hydramem.server.http.known_tokens import KnownTokens, bearer_of
from hydramem.server.http.limits import Limits

_log = logging.getLogger(__name__)
_T = TypeVar("_T")
Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]
"""An application of ASGI (https://asgi.readthedocs.io/en/latest/specs/main.html)."""

_UNKNOWN = "unknown"
"""The caller of all requests whose token is not known: together they have one limit."""
_ANYONE = "anyone"
_READY_SECONDS = 1.0
"""How long an answer of `/readyz` is kept: nobody can make the store work by asking."""

_CHECKS = ThreadPoolExecutor(4, thread_name_prefix="hydramem-door")
"""Threads of their own: slow calls of tools can take all those of the event loop."""


async def checked(check: Callable[..., _T], *given: object) -> _T:
    """Return what a check of a request says, which may wait for a file or a database."""
    return await asyncio.get_running_loop().run_in_executor(_CHECKS, check, *given)


class FrontDoor:
    """Passes on the requests that may be answered now.

    Args:
        app: What answers them.
        tokens: The tokens that callers may carry.
        limits: How many requests a caller may make.
        most_bytes: Largest body of a request.
        read_store: Reads something of the store; raises HydraMemError where it cannot.
    """

    def __init__(
        self,
        app: App,
        *,
        tokens: KnownTokens,
        needs_token: bool,
        limits: Limits,
        most_bytes: int,
        read_store: Callable[[], None],
    ) -> None:
        self._app = app
        self._tokens = tokens
        self._needs_token = needs_token
        self._limits = limits
        self._most_bytes = most_bytes
        self._read_store = read_store
        self._ready: tuple[float, bool] = (-_READY_SECONDS, False)
        self._asking = asyncio.Lock()
        self._running = 0
        self._stopping = False
        self._idle = asyncio.Event()
        self._idle.set()

    @property
    def stopping(self) -> bool:
        """Whether it takes no further requests."""
        return self._stopping

    async def stop(self, seconds: float) -> bool:
        """Refuse what comes from now on; return whether what runs has ended within so many seconds."""
        self._stopping = True
        try:
            await asyncio.wait_for(self._idle.wait(), seconds)
        except TimeoutError:
            _log.warning("%d requests still run after %g s and are cut off", self._running, seconds)
            return False
        return True

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or pass it on."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
        elif scope["path"] == "/healthz":
            await _answer(send, 200, "ok")
        elif scope["path"] == "/readyz":
            await self._answer_readiness(send)
        elif self._stopping:
            await _answer(send, 503, "the server stops; try again", retry=5)
        else:
            await self._admit(scope, receive, send)

    async def _answer_readiness(self, send: Send) -> None:
        if not self._stopping and await self._is_ready():
            await _answer(send, 200, "ready")
        else:
            await _answer(send, 503, "not ready", retry=5)

    async def _is_ready(self) -> bool:
        async with self._asking:
            at, ready = self._ready
            if time.monotonic() - at < _READY_SECONDS:
                return ready
            try:
                await checked(self._read_store)
                ready = True
            except HydraMemError as error:
                _log.warning("not ready: %s", error)
                ready = False
            self._ready = (time.monotonic(), ready)
            return ready

    async def _admit(self, scope: Scope, receive: Receive, send: Send) -> None:
        if sum(name.lower() == b"authorization" for name, _ in scope["headers"]) > 1:
            # Which of them counts must not depend on who reads them.
            await _answer(send, 400, "a request has one header Authorization", close=True)
            return
        try:
            caller = await checked(self._caller, scope)
        except HydraMemError as error:
            _log.error("no token can be known: %s", error)
            await _answer(send, 503, "not ready", retry=5)
            return
        wait = self._limits.wait_for_rate(caller)
        if wait:
            most = self._limits.per_minute
            text = f"too many requests: {most} a minute are allowed; try again in {wait} s"
            await _answer(send, 429, text, retry=wait)
        elif scope["method"] == "GET":
            await self._stream(caller, scope, receive, send)
        elif not self._limits.begin(caller):
            most = self._limits.concurrent
            await _answer(send, 429, f"{most} requests run already, as many as are allowed", retry=1)
        else:
            self._running += 1
            self._idle.clear()
            try:
                await self._pass_on(scope, receive, send, known=caller != _UNKNOWN)
            finally:
                self._limits.end(caller)
                self._running -= 1
                if not self._running:
                    self._idle.set()

    async def _stream(self, caller: str, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on what opens a stream of what the server says; a stop does not wait for its end."""
        if not self._limits.begin_stream(caller):
            most = self._limits.concurrent
            await _answer(send, 429, f"{most} streams are open already, as many as are allowed", retry=1)
            return
        try:
            await self._app(scope, receive, send)
        finally:
            self._limits.end_stream(caller)

    def _caller(self, scope: Scope) -> str:
        if not self._needs_token:
            return _ANYONE
        access = self._tokens.access(bearer_of(scope["headers"]))
        return _UNKNOWN if access is None else access.actor

    async def _pass_on(self, scope: Scope, receive: Receive, send: Send, *, known: bool) -> None:
        """Pass a request on with its whole body; that of an unknown caller is not read."""
        if not known:
            await self._app(scope, receive, send)
            return
        parts: list[bytes] = []
        size, more = 0, True
        while more:
            message = await receive()
            if message["type"] != "http.request":  # the caller has gone
                return
            parts.append(message.get("body", b""))
            size += len(parts[-1])
            if size > self._most_bytes:
                text = f"the body of a request may have {self._most_bytes} bytes"
                await _answer(send, 413, text, close=True)
                return
            more = message.get("more_body", False)
        body: list[MutableMapping[str, Any]] = [
            {"type": "http.request", "body": b"".join(parts), "more_body": False}
        ]

        async def given() -> MutableMapping[str, Any]:
            return body.pop() if body else await receive()

        await self._app(scope, given, send)


async def _answer(send: Send, status: int, text: str, *, retry: int = 0, close: bool = False) -> None:
    """Answer with plain text, and the seconds after which the caller may try again."""
    body = text.encode()
    headers = [
        (b"content-type", b"text/plain; charset=utf-8"),
        (b"content-length", str(len(body)).encode()),
        (b"cache-control", b"no-store"),
    ]
    headers += [(b"retry-after", str(retry).encode())] * bool(retry)
    headers += [(b"connection", b"close")] * close
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
