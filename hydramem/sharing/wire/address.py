"""Where an owner listens: a Unix socket with a short name, or loopback TCP where there is no such thing."""

import hashlib
import os
import secrets
import socket
import stat
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path

_MOST_NAME_BYTES = 100
"""A Unix socket's name has room for 107 bytes on Linux and 103 on macOS."""

_BACKLOG = 128
_POLL_SECONDS = 0.01


def listen(folder: Path) -> tuple[socket.socket, str]:
    """Listen for the clients of a store folder; return the socket and its address.

    The name of a Unix socket does not depend on the length of the folder's: it lies in a folder of this user
    alone. Each owner has a name of its own, so that one that leaves cannot remove its successor's.

    Raises:
        OSError: Neither kind of socket can be made.
    """
    if sys.platform != "win32" and (place := runtime_folder()) is not None:
        name = place / f"{short_name(folder)}-{secrets.token_hex(4)}.sock"
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
        OSError: Nobody listens there.
        TimeoutError: Too many wait to be accepted, all that time.
        ValueError: It is not such an address.
    """
    kind, _, place = address.partition(":")
    if kind == "unix":
        link = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            link.settimeout(seconds)
            _connect(link, place, until=time.monotonic() + seconds)
        except BaseException:
            link.close()
            raise
        return link
    if kind == "tcp":
        host, _, port = place.rpartition(":")
        return socket.create_connection((host, int(port)), timeout=seconds)
    raise ValueError(f"{address!r} is not an address")


def has_name(address: str) -> bool:
    """Say whether clients can still find an address: the name of a Unix socket can be deleted."""
    kind, _, place = address.partition(":")
    return kind != "unix" or os.path.lexists(place)


def _connect(link: socket.socket, place: str, *, until: float) -> None:
    """Connect to a Unix socket; where its queue of connections is full, the system itself does not wait."""
    while True:
        try:
            return link.connect(place)
        except BlockingIOError as error:
            if time.monotonic() > until:
                raise TimeoutError(str(error)) from error
            time.sleep(_POLL_SECONDS)


def remove_name(address: str) -> None:
    """Remove the name of a Unix socket, so that nobody connects to it any more."""
    kind, _, place = address.partition(":")
    if kind == "unix":
        with suppress(OSError):
            Path(place).unlink(missing_ok=True)


def short_name(folder: Path) -> str:
    """Return sixteen letters for a store folder, whatever the length of its path."""
    return hashlib.sha256(os.fsencode(folder)).hexdigest()[:16]


def runtime_folder() -> Path | None:
    """Return a folder that only this user can look into, made where it is missing; None where none can be."""
    place = _possible_folders()[0]
    try:
        with suppress(FileExistsError):
            place.mkdir(mode=0o700)
    except OSError:
        return None
    return place if _is_ours(place) else None


def runtime_folders() -> list[Path]:
    """Return the folders that a process of this user may have taken for its own, whatever its environment."""
    return [place for place in dict.fromkeys(_possible_folders()) if _is_ours(place)]


def _possible_folders() -> list[Path]:
    if sys.platform == "win32":
        return [Path(tempfile.gettempdir()) / "hydramem"]  # the user's own
    user = os.getuid()
    given = os.environ.get("XDG_RUNTIME_DIR")
    parents = [given] if given else []
    parents += [tempfile.gettempdir(), f"/run/user/{user}", "/tmp"]  # noqa: S108 -- checked by `_is_ours`
    return [Path(parent) / f"hydramem-{user}" for parent in parents]


def _is_ours(place: Path) -> bool:
    """Say whether a folder is this user's alone; another one could have put a folder or a link there."""
    try:
        found = place.lstat()
    except OSError:
        return False
    if sys.platform == "win32":
        return stat.S_ISDIR(found.st_mode)
    is_ours = stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid()
    return is_ours and not stat.S_IMODE(found.st_mode) & 0o077
