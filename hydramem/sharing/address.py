"""Where an owner listens: a Unix socket with a short name, or loopback TCP where there is no such thing."""

import hashlib
import os
import secrets
import socket
import stat
import sys
import tempfile
from contextlib import suppress
from pathlib import Path

_MOST_NAME_BYTES = 100
"""A Unix socket's name has room for 107 bytes on Linux and 103 on macOS."""

_BACKLOG = 128


def listen(folder: Path) -> tuple[socket.socket, str]:
    """Listen for the clients of a store folder; return the socket and its address.

    The name of a Unix socket does not depend on the length of the folder's: it lies in a folder of this user
    alone. Each owner has a name of its own, so that one that leaves cannot remove its successor's.

    Raises:
        OSError: Neither kind of socket can be made.
    """
    if sys.platform != "win32" and (place := _runtime_folder()) is not None:
        digest = hashlib.sha256(os.fsencode(folder)).hexdigest()[:16]
        name = place / f"{digest}-{secrets.token_hex(4)}.sock"
        if len(os.fsencode(name)) <= _MOST_NAME_BYTES:
            listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            try:
                listener.bind(os.fspath(name))
                listener.listen(_BACKLOG)
                return listener, f"unix:{name}"
            except OSError:
                listener.close()  # a file system without sockets: loopback is left
    listener = socket.create_server(("127.0.0.1", 0), backlog=_BACKLOG)
    return listener, f"tcp:127.0.0.1:{listener.getsockname()[1]}"


def connect_to(address: str, seconds: float) -> socket.socket:
    """Connect to an address that `listen` returned.

    Raises:
        OSError: Nobody listens there, or too many wait to be accepted.
        ValueError: It is not such an address.
    """
    kind, _, place = address.partition(":")
    if kind == "unix":
        link = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            link.settimeout(seconds)
            link.connect(place)
        except BaseException:
            link.close()
            raise
        return link
    if kind == "tcp":
        host, _, port = place.rpartition(":")
        return socket.create_connection((host, int(port)), timeout=seconds)
    raise ValueError(f"{address!r} is not an address")


def remove_name(address: str) -> None:
    """Remove the name of a Unix socket, so that nobody connects to it any more."""
    kind, _, place = address.partition(":")
    if kind == "unix":
        with suppress(OSError):
            Path(place).unlink(missing_ok=True)


def _runtime_folder() -> Path | None:
    """Return a folder that only this user can look into; None where there is none."""
    parent = os.environ.get("XDG_RUNTIME_DIR") or tempfile.gettempdir()
    place = Path(parent) / f"hydramem-{os.getuid()}"
    try:
        with suppress(FileExistsError):
            place.mkdir(mode=0o700)
        found = place.lstat()  # another user could have put a folder or a link of theirs here
    except OSError:
        return None
    is_ours = stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid()
    return place if is_ours and not stat.S_IMODE(found.st_mode) & 0o077 else None
