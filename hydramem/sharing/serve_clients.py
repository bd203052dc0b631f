"""The owner's side: serves an open memory to other processes, a thread for each connection."""

import atexit
import logging
import os
import secrets
import socket
import threading
import time
import weakref
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from hydramem.core.config import SharingConfig
from hydramem.core.errors import CallCancelledError, HydraMemError, InvalidInputError, StoreBusyError
from hydramem.core.version import __version__
from hydramem.sharing.election import Seat
from hydramem.sharing.run_calls import CallRunner
from hydramem.sharing.wire.channel import Channel, ConnectionLostError, InvalidMessageError
from hydramem.sharing.wire.messages import (
    LEAVE,
    PROTOCOL,
    STATUS,
    Call,
    CallResult,
    Failure,
    Hello,
    Proof,
    Report,
    Status,
    ToOwner,
    Welcome,
    is_proof,
    proof,
)
from hydramem.sharing.wire.values import encoded, failure

if TYPE_CHECKING:
    from hydramem.memory_api.memory import Memory

log = logging.getLogger(__name__)
_MOST_CONNECTIONS = 512
_HANDSHAKE_SECONDS = 5.0
_SECONDS_BEFORE_WARNING = 5.0
_SECONDS_BETWEEN_CHECKS = 2.0
_SECONDS_TO_DRAIN = 2.0
_HANDSHAKE_BYTES = 4096
_LEAVES = Failure("StoreBusyError", b"the owner leaves", repeats=True)


class OwnerServer:
    """Serves a memory at the address of its seat until it is stopped.

    Clients are welcomed at once; their calls wait for the memory, which may take long to open.

    Args:
        seat: Where; given back at the end.
        settings: Limits of time.
    """

    def __init__(self, seat: Seat, settings: SharingConfig) -> None:
        self._seat = seat
        self._runner = CallRunner(seat.note, settings)
        self._channels: set[Channel] = set()
        self._users: set[Channel] = set()  # those of the channels that have called
        self._changed = threading.Condition()
        self._leaving = False
        self._calls = 0
        self._asked_to_leave = threading.Event()
        self._last_call = time.monotonic()
        _servers.add(self)
        seat.announce()
        threading.Thread(target=self._accept, name="hydramem-owner", daemon=True).start()

    # What the process that owns asks ------------------------------------------------------------
    def serve(self, memory: "Memory", *, whole: bool = False) -> None:
        """Serve an open memory.

        Args:
            memory: Its store is served, also after this handle of it is closed.
            whole: The handle is there for clients alone, so that they may also close the stores for a moment.
        """
        self._runner.serve(memory, whole=whole)

    def refuse(self, error: Exception) -> None:
        """Answer every call with an error: the memory cannot be opened."""
        self._runner.refuse(error)

    def wait_until_idle(self, seconds: float) -> None:
        """Wait until nobody is connected or has called for so long, or a client asks the owner to leave."""
        while not self._asked_to_leave.wait(self._seconds_to(seconds)):
            with self._changed:
                if not self._channels and not self._calls and self._idle_seconds() >= seconds:
                    return

    def ask_to_leave(self) -> None:
        """End `wait_until_idle`."""
        self._asked_to_leave.set()

    def _seconds_to(self, idle: float) -> float:
        return min(max(idle - self._idle_seconds(), 0.05), 5.0)

    def _idle_seconds(self) -> float:
        return time.monotonic() - self._last_call

    def stop(self, seconds: float | None = None) -> None:
        """Serve nobody any more: calls that run end first, those that report progress are cancelled.

        Args:
            seconds: How much longer than five seconds to wait for them; None waits for their end.
        """
        with self._changed:
            self._leaving = True
        self._runner.refuse(CallCancelledError())  # those that wait for a memory that is not opened
        self._seat.stop_listening()
        with self._changed:
            if not self._changed.wait_for(lambda: not self._calls, _SECONDS_BEFORE_WARNING):
                log.warning("%s: waits for the calls of other processes", self._seat.folder)
                self._changed.wait_for(lambda: not self._calls, seconds)
            channels = tuple(self._channels)
        for channel in channels:
            channel.stop_receiving()
        with self._changed:
            # Calls that have come are answered: those of a connection that is cut count as the owner's death.
            self._changed.wait_for(lambda: not self._channels, _SECONDS_TO_DRAIN)
            channels = tuple(self._channels)
        for channel in channels:
            channel.close()

    def give_back(self) -> None:
        """Leave the folder to the next owner; the stores are closed."""
        _servers.discard(self)
        self._seat.give_back()

    def leave_to_parent(self) -> None:
        """Close what a forked child has inherited: clients would wait for it after their owner has died."""
        for channel in self._channels:
            channel.socket.close()

    # Connections --------------------------------------------------------------------------------
    def _accept(self) -> None:
        while not self._leaving and (listener := self._seat.listener) is not None:
            try:
                listener.settimeout(_SECONDS_BETWEEN_CHECKS)
                link, _ = listener.accept()
            except TimeoutError:
                self._check_seat()
                continue
            except OSError as error:
                if self._leaving or listener.fileno() < 0:
                    return
                log.warning("%s: %s", self._seat.folder, error)  # as with too many open files
                time.sleep(0.1)
                continue
            try:
                threading.Thread(
                    target=self._serve, args=(link,), name="hydramem-client", daemon=True
                ).start()
            except RuntimeError as error:  # no more threads
                log.warning("%s: %s", self._seat.folder, error)
                link.close()

    def _check_seat(self) -> None:
        """Listen anew where clients do not find the socket: something has deleted its name or the note."""
        with self._changed:
            if self._leaving:
                return
            try:
                if self._seat.is_deleted():
                    self._asked_to_leave.set()
                elif not self._seat.is_found():
                    self._seat.listen_again()
                    log.warning("%s: its socket or its note was deleted; listens anew", self._seat.folder)
            except OSError as error:
                log.debug("%s: cannot listen anew: %s", self._seat.folder, error)

    def _serve(self, link: socket.socket) -> None:
        channel = Channel(link, ToOwner)
        try:
            with self._connected(channel):
                self._welcome(channel)
                while True:
                    self._answer(channel, channel.receive())
        except (ConnectionLostError, TimeoutError, CallCancelledError) as error:
            log.debug("%s: a client has gone: %s", self._seat.folder, error)
        finally:
            channel.close()

    @contextmanager
    def _connected(self, channel: Channel) -> Iterator[None]:
        with self._changed:
            if self._leaving or len(self._channels) >= _MOST_CONNECTIONS:
                raise ConnectionLostError("no more are served")
            self._channels.add(channel)
        try:
            yield
        finally:
            with self._changed:
                self._channels.discard(channel)
                if channel in self._users:
                    self._users.discard(channel)
                    self._last_call = time.monotonic()

    def _welcome(self, channel: Channel) -> None:
        hello = channel.receive(_HANDSHAKE_SECONDS, most=_HANDSHAKE_BYTES, whole=True)
        if not isinstance(hello, Hello):
            raise ConnectionLostError("it did not say hello")
        nonce, key = secrets.token_bytes(16), self._seat.note.key
        channel.send(
            Welcome(PROTOCOL, __version__, nonce, proof(key, b"owner", hello.nonce, nonce)),
        )
        said = channel.receive(_HANDSHAKE_SECONDS, most=_HANDSHAKE_BYTES, whole=True)
        if not isinstance(said, Proof) or not is_proof(said.proof, key, b"client", hello.nonce, nonce):
            raise ConnectionLostError("it does not know the key")

    # Calls --------------------------------------------------------------------------------------
    def _answer(self, channel: Channel, said: object) -> None:
        if not isinstance(said, Call):
            raise ConnectionLostError("what it said is no call")
        with ExitStack() as running:
            with self._changed:
                if self._leaving:
                    channel.send(_LEAVES)
                    return
                self._calls += 1
                is_use = said.operation != STATUS  # who only looks does not keep the owner from leaving
                if is_use:
                    self._users.add(channel)
                running.callback(self._note_end, is_use)
            try:
                reply: CallResult | Failure = CallResult(msgspec.Raw(encoded(self._run(channel, said))))
            except CallCancelledError:
                if not self._leaving:
                    raise
                reply = _LEAVES
            except HydraMemError as error:
                reply = failure(error)
            except BaseException as error:  # a panic of a library is no Exception
                log.exception("%s: %s failed", self._seat.folder, said.operation)
                reply = failure(error)
            try:
                channel.send(reply)
            except InvalidMessageError as error:
                channel.send(failure(InvalidInputError(f"{said.operation}: the answer {error}")))

    def _note_end(self, is_use: bool) -> None:
        with self._changed:
            self._calls -= 1
            if is_use:
                self._last_call = time.monotonic()
            self._changed.notify_all()

    def _run(self, channel: Channel, said: Call) -> object:
        if said.operation == STATUS:
            return self._status()
        if said.operation == LEAVE:
            return self._leave()
        return self._runner.run(said, lambda *report: self._report(channel, said, report))

    def _report(self, channel: Channel, said: Call, report: tuple[Any, ...]) -> None:
        if self._leaving or channel.has_ended():
            raise CallCancelledError
        if said.reports:
            try:
                channel.send(Report(list(report)))
            except ConnectionLostError as error:
                raise CallCancelledError from error

    def _status(self) -> Status:
        note = self._seat.note
        with self._changed:
            return Status(
                folder=str(self._seat.folder),
                pid=note.pid,
                version=__version__,
                background=note.background,
                since=note.since,
                program=note.program,
                clients=len(self._channels) - 1,
                calls=self._calls - 1,
                idle_seconds=0.0 if self._calls > 1 else self._idle_seconds(),
                memory_mb=_memory_mb(),
            )

    def _leave(self) -> bool:
        if not self._seat.note.background:
            raise StoreBusyError(f"{self._seat.folder}: {self._seat.note} works with it; close it there")
        self._asked_to_leave.set()
        return True


def _memory_mb() -> int | None:
    """Return the memory that this process occupies, in MB."""
    try:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE") // 1_000_000
    except (OSError, ValueError, IndexError):
        return None


_servers: weakref.WeakSet[OwnerServer] = weakref.WeakSet()


def _close_in_child() -> None:
    for server in _servers:
        server.leave_to_parent()
    _servers.clear()  # the end of the child is not the end of the owner


@atexit.register
def _stop_all() -> None:
    """Stop serving before the interpreter ends, in a program that does not close its memory."""
    for server in tuple(_servers):
        server.stop(seconds=5.0)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_close_in_child)
