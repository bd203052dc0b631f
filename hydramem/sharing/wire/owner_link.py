"""A client's connection to the owner: it proves who it is, calls, and watches that the owner lives."""

import secrets
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec

from hydramem.core.errors import InvalidInputError, StoreBusyError
from hydramem.core.version import __version__
from hydramem.sharing.wire.address import connect_to
from hydramem.sharing.wire.channel import Channel, ConnectionLostError, InvalidMessageError
from hydramem.sharing.wire.messages import (
    LEAVE,
    PROTOCOL,
    Call,
    CallResult,
    Failure,
    Hello,
    Proof,
    Report,
    ToClient,
    Welcome,
    is_proof,
    proof,
)
from hydramem.sharing.wire.values import raised
from hydramem.storage.files.owner_note import OwnerNote

_HANDSHAKE_BYTES = 4096


class OwnerGoneError(Exception):
    """The owner has left or died, so that the call may not have been done.

    Attributes:
        begun: Whether the owner may have begun it.
    """

    def __init__(self, reason: str, *, begun: bool) -> None:
        super().__init__(reason)
        self.begun = begun


class OwnerLink:
    """A connection to an owner. One thread at a time calls."""

    def __init__(self, folder: Path, note: OwnerNote) -> None:
        """Connect to the owner that a note names.

        Raises:
            OwnerGoneError: Nobody answers there any more.
            StoreBusyError: The owner does not answer in time, or has another protocol.
        """
        self.folder = folder
        self.note = note
        self.is_idle = True
        """Whether no call waits for its answer, which would come to the next one."""
        self._channel = self._connected(note.wait_seconds)

    def _connected(self, seconds: float) -> Channel:
        try:
            link = connect_to(self.note.address, seconds)
        except TimeoutError as error:
            raise self._silent() from error
        except (OSError, ValueError) as error:
            raise OwnerGoneError(str(error), begun=False) from error
        channel = Channel(link, ToClient)
        try:
            self._greet(channel, seconds)
        except BaseException:
            channel.close()
            raise
        return channel

    def _greet(self, channel: Channel, seconds: float) -> None:
        nonce, key = secrets.token_bytes(16), self.note.key
        try:
            channel.send(Hello(PROTOCOL, __version__, nonce))
            welcome = channel.receive(seconds, most=_HANDSHAKE_BYTES, whole=True)
        except TimeoutError as error:
            raise self._silent() from error
        except ConnectionLostError as error:
            raise OwnerGoneError(str(error), begun=False) from error
        known = isinstance(welcome, Welcome) and is_proof(welcome.proof, key, b"owner", nonce, welcome.nonce)
        if not known:  # another program listens there now
            raise OwnerGoneError("it is not the owner", begun=False)
        try:
            channel.send(Proof(proof(key, b"client", nonce, welcome.nonce)))
        except ConnectionLostError as error:
            raise OwnerGoneError(str(error), begun=False) from error
        if welcome.protocol != PROTOCOL:
            self._refuse(channel, welcome)

    def _refuse(self, channel: Channel, welcome: Welcome) -> None:
        """Refuse an owner of another protocol; an older one in the background is asked to leave first."""
        if welcome.protocol < PROTOCOL and self.note.background:
            with suppress(ConnectionLostError, TimeoutError):
                channel.send(Call(operation=LEAVE, project=""))
                channel.receive(self.note.wait_seconds)
                raise OwnerGoneError("it leaves for a newer version", begun=False)
        older = "it" if welcome.protocol < PROTOCOL else "this program"
        raise StoreBusyError(
            f"{self.folder}: held by {self.note} with HydraMem {welcome.version}, and this is {__version__}: "
            f"they cannot talk to each other; upgrade the older one ({older}), or close it there with "
            "`hydramem stop`"
        )

    def _silent(self) -> StoreBusyError:
        return StoreBusyError(
            f"{self.folder}: held by {self.note}, which has not answered for {self.note.wait_seconds:g} s; "
            "it may be stopped or very busy: try again, or end it"
        )

    def call(self, call: Call, on_report: Callable[..., None] | None = None) -> msgspec.Raw:
        """Make a call and wait for its answer, however long it takes while the owner lives.

        Raises:
            OwnerGoneError: The owner has left or died.
            StoreBusyError: The owner lives and does not answer.
            Exception: What the operation raised.
        """
        self.is_idle = False
        try:
            self._channel.send(call)
        except InvalidMessageError as error:
            self.is_idle = True
            raise InvalidInputError(f"{call.operation}: what is given {error}") from error
        except ConnectionLostError as error:
            raise OwnerGoneError(str(error), begun=False) from error
        while True:
            match self._received():
                case Report(values=values):
                    if on_report is not None:
                        on_report(*values)
                case CallResult(value=value):
                    self.is_idle = True
                    return value
                case Failure(repeats=True):
                    raise OwnerGoneError("it leaves", begun=False)
                case Failure() as failure:
                    self.is_idle = True
                    raise raised(failure)
                case other:
                    raise OwnerGoneError(f"it said {type(other).__name__}", begun=True)

    def _received(self) -> Any:
        while True:
            try:
                return self._channel.receive(self.note.wait_seconds / 2)
            except TimeoutError:
                self._check_life()
            except ConnectionLostError as error:
                raise OwnerGoneError(str(error), begun=True) from error

    def _check_life(self) -> None:
        """Greet the owner on another connection, which it answers apart from its work."""
        try:
            self._connected(self.note.wait_seconds / 2).close()
        except OwnerGoneError:
            # It takes no new connections, as one that leaves: this one says what becomes of the call.
            time.sleep(0.05)

    def is_open(self) -> bool:
        """Whether the owner has not closed the connection."""
        return not self._channel.has_ended()

    def close(self) -> None:
        """Close the connection, which cancels a call."""
        self._channel.close()
