"""Messages over a socket: each has its length before it, four bytes big-endian, and is MessagePack."""

import select
import socket
import struct
import threading
import time
from contextlib import suppress
from typing import Any

import msgspec

MOST_BYTES = 256 << 20
"""Longest message; a longer one ends the connection."""

_HEAD = struct.Struct(">I")
_READ_BYTES = 1 << 20
_encode = msgspec.msgpack.Encoder().encode


class ConnectionLostError(Exception):
    """The other side is gone, or said what cannot be read; the connection is of no more use."""


class Channel:
    """A connection; any thread sends, one at a time receives.

    Args:
        link: A connected socket; the channel closes it.
        receives: The type of the messages that come in.
        patience: Seconds for a message to go through once it has begun.
    """

    def __init__(self, link: socket.socket, receives: Any, *, patience: float = 60.0) -> None:
        self._link = link
        self._decode = msgspec.msgpack.Decoder(receives).decode
        self._sending = threading.Lock()
        self._patience = patience
        link.settimeout(patience)
        if link.family != getattr(socket, "AF_UNIX", None):
            link.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    @property
    def socket(self) -> socket.socket:
        """The socket."""
        return self._link

    def send(self, message: Any) -> None:
        """Send a message.

        Raises:
            ConnectionLostError: It cannot be sent.
            InvalidMessageError: It is too long; nothing was sent.
        """
        content = _encode(message)
        if len(content) > MOST_BYTES:
            raise InvalidMessageError(f"takes {len(content) >> 20} MB, and {MOST_BYTES >> 20} are the most")
        try:
            with self._sending:
                self._link.settimeout(self._patience)
                self._link.sendall(_HEAD.pack(len(content)) + content)
        except OSError as error:
            raise ConnectionLostError(str(error)) from error

    def receive(self, seconds: float | None = None, *, most: int = MOST_BYTES, whole: bool = False) -> Any:
        """Return the next message.

        Args:
            seconds: How long to wait for its first byte; None waits for ever.
            most: Longest message that is accepted.
            whole: All of it must come in that time, as from a side that has not proved itself.

        Raises:
            TimeoutError: Nothing came; what comes later can still be received.
            ConnectionLostError: The connection has ended, or what came is no message.
        """
        until = time.monotonic() + seconds if whole and seconds is not None else None
        try:
            if not self._wait(seconds):
                raise TimeoutError
            (length,) = _HEAD.unpack(self._read(_HEAD.size, until))
            if length > most:
                raise ConnectionLostError(f"a message of {length} bytes, and {most} are the most")
            return self._decode(self._read(length, until))
        except (TimeoutError, ConnectionLostError):
            raise
        except OSError as error:
            raise ConnectionLostError(str(error)) from error
        except (msgspec.MsgspecError, RecursionError, UnicodeError, ValueError) as error:
            raise ConnectionLostError(f"what came is no message: {error}") from error

    def has_ended(self) -> bool:
        """Say whether the other side has closed the connection; what it sent before may still be there."""
        try:
            return bool(self._wait(0)) and self._link.recv(1, socket.MSG_PEEK) == b""
        except OSError:
            return True

    def stop_receiving(self) -> None:
        """Refuse what the other side sends from now on; what has come can still be received, and answered."""
        with suppress(OSError):
            self._link.shutdown(socket.SHUT_RD)

    def close(self) -> None:
        """Close the connection; a thread that receives on it gets an error."""
        with suppress(OSError):  # the other side was quicker
            self._link.shutdown(socket.SHUT_RDWR)
        self._link.close()

    def _wait(self, seconds: float | None) -> bool:
        if hasattr(select, "poll"):  # `select` cannot wait for descriptors above 1,023
            waiting = select.poll()
            waiting.register(self._link, select.POLLIN)
            return bool(waiting.poll(None if seconds is None else max(0, int(seconds * 1000))))
        return bool(select.select([self._link], [], [], seconds)[0])

    def _read(self, length: int, until: float | None) -> bytes:
        # In parts, so that a length alone does not take memory.
        parts = bytearray()
        while len(parts) < length:
            left = self._patience if until is None else until - time.monotonic()
            self._link.settimeout(max(left, 0.001))
            try:
                part = self._link.recv(min(length - len(parts), _READ_BYTES))
            except TimeoutError as error:
                raise ConnectionLostError("half a message came") from error
            if not part:
                raise ConnectionLostError("the other side has closed the connection")
            parts += part
        return bytes(parts)


class InvalidMessageError(Exception):
    """A message cannot be sent as it is."""
