"""Opens a document that is a zip archive: its parts by name, in memory, up to a number of bytes.

Nothing is unpacked to disk, and a name leads only to a part of the same archive.
"""

import io
import posixpath
import zipfile
import zlib
from typing import IO
from urllib.parse import unquote

from hydramem.ingest.documents.formats.document_text import UnreadableError

# How much larger than the largest file that is read its parts may be, all together, once unpacked.
UNPACKED = 4
_MOST_PARTS = 50_000
_ENTRY = b"PK\x01\x02"
_OLD_OFFICE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_ENCRYPTED = 0x1
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)


class ZipParts:
    """The parts of an archive.

    Args:
        data: The archive.
        most_bytes: How much may be unpacked of it in all.

    Raises:
        UnreadableError: It is no archive, has too many parts, or is an encrypted Office document.
    """

    def __init__(self, data: bytes, *, most_bytes: int) -> None:
        if data.startswith(_OLD_OFFICE):
            raise UnreadableError("encrypted, or in the binary format of old Office programs")
        if data.count(_ENTRY) > _MOST_PARTS:
            raise UnreadableError(f"too large: over {_MOST_PARTS} files in it")
        try:
            self._archive = zipfile.ZipFile(io.BytesIO(data))
        except (zipfile.BadZipFile, ValueError, NotImplementedError, OverflowError) as error:
            raise UnreadableError(f"broken: not a whole zip archive ({error})") from error
        self._parts = {_plain(info.filename): info for info in self._archive.infolist()}
        self._limit = most_bytes
        self._left = most_bytes

    def __contains__(self, name: str) -> bool:
        return _plain(name) in self._parts

    def open(self, name: str) -> "PartReader":
        """Return a part to read from; it counts what is unpacked.

        Raises:
            UnreadableError: There is none of that name, it is encrypted, or packed in an unusual way.
        """
        info = self._parts.get(_plain(name))
        if info is None:
            raise UnreadableError(f"broken: {name[:200]!r} is not in it")
        if info.flag_bits & _ENCRYPTED:
            raise UnreadableError("encrypted")
        if info.compress_type not in _METHODS:
            raise UnreadableError(f"packed with method {info.compress_type}, which documents do not use")
        try:
            file = self._archive.open(info)
        except (zipfile.BadZipFile, NotImplementedError, RuntimeError, ValueError, OSError) as error:
            raise UnreadableError(f"broken: {error}") from error
        return PartReader(file, self)

    def read(self, name: str) -> bytes:
        """Return all of a part.

        Raises:
            UnreadableError: As `open`, and where more is unpacked than is allowed.
        """
        file, pieces = self.open(name), []
        while piece := file.read(65_536):
            pieces.append(piece)
        return b"".join(pieces)

    def count(self, size: int) -> None:
        """Take unpacked bytes off what is left.

        Raises:
            UnreadableError: Nothing is left.
        """
        self._left -= size
        if self._left < 0:
            raise UnreadableError(
                f"too large: it unpacks to more than {self._limit / 2**20:.0f} MB "
                f"({UNPACKED} times ingest.max_file_mb)"
            )


class PartReader:
    """A part that is read from in order; damage is an `UnreadableError`."""

    def __init__(self, file: IO[bytes], parts: ZipParts) -> None:
        self._file = file
        self._parts = parts

    def read(self, size: int) -> bytes:
        """Return at most so many bytes; none at the end.

        Raises:
            UnreadableError: The part is damaged, or too much is unpacked.
        """
        try:
            piece = self._file.read(size)
        except (zipfile.BadZipFile, zlib.error, EOFError, OSError) as error:
            raise UnreadableError(f"broken: {error}") from error
        self._parts.count(len(piece))
        return piece


def beside(part: str, target: str) -> str:
    """Return the name of the part that a part points to: relative to it, or from the root of the archive."""
    path = unquote(target.partition("#")[0])
    return _plain(path if path.startswith("/") else posixpath.join(posixpath.dirname(part), path))


def _plain(name: str) -> str:
    return posixpath.normpath("/" + name.replace("\\", "/")).lstrip("/")
