"""The file of a backup: a compressed tar whose first member, a manifest, names every other with its hash.

`tar xzf` unpacks it. Reading checks all of it, and writes only plain files with the names of a store.
"""

import gzip
import hashlib
import json
import tarfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path
from typing import IO, Any

from hydramem.core.errors import InvalidInputError
from hydramem.storage.files.manifests import parse_manifest
from hydramem.storage.schema import SCHEMA_VERSION

FORMAT, VERSION = "hydramem-backup", 1
MANIFEST = "manifest.json"
PARTS = ("graph", "curated", "models", "garden", "config.yml")
"""What a backup holds of a store's folder."""
_STRICT: Any = {"extra": "forbid"}
_MOST_MANIFEST = 64 * 2**20
_PIECE = 2**20

# Databases shrink to a third at the quickest level; the best one takes ten times as long for a tenth less.
_LEVEL = 1

# Numbers in headers that are none are ValueErrors to the library.
_DAMAGE = (tarfile.TarError, EOFError, zlib.error, gzip.BadGzipFile, ValueError, OverflowError)
_MOST_FILLING = 2**20


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """A file of a backup: its path in the store, and the hash of its bytes in hex."""

    __pydantic_config__ = _STRICT

    name: str
    bytes: int
    sha256: str


@dataclass(frozen=True, slots=True, kw_only=True)
class BackupManifest:
    """What a backup holds.

    Attributes:
        format: Always `hydramem-backup`.
        version: Of the format.
        schema: Version of the rows.
        engine: Which graph engine wrote the graph.
        created_by: Program and version.
    """

    __pydantic_config__ = _STRICT

    format: str = FORMAT
    version: int = VERSION
    schema: int = SCHEMA_VERSION
    engine: str
    created_by: str
    made_at: datetime
    files: tuple[Member, ...]


def member(file: Path, name: str) -> Member:
    """Describe a file as a manifest names it."""
    with file.open("rb") as data:
        digest = hashlib.file_digest(data, "sha256")
    return Member(name=name, bytes=file.stat().st_size, sha256=digest.hexdigest())


def write_archive(manifest: BackupManifest, folder: Path, file: IO[bytes]) -> None:
    """Write a backup of the files that are in a folder.

    Raises:
        OSError: A file cannot be read or written.
    """
    manifest_file = folder / MANIFEST
    values = asdict(manifest) | {"made_at": manifest.made_at.isoformat()}
    manifest_file.write_text(json.dumps(values, indent=1, ensure_ascii=True), encoding="utf-8")
    with tarfile.open(fileobj=file, mode="w:gz", compresslevel=_LEVEL, format=tarfile.PAX_FORMAT) as archive:
        archive.add(manifest_file, arcname=MANIFEST, filter=_plain)
        for one in manifest.files:
            archive.add(folder / one.name, arcname=one.name, filter=_plain)


def _plain(entry: tarfile.TarInfo) -> tarfile.TarInfo:
    # The backup does not name the owner of the files.
    entry.uid = entry.gid = 0
    entry.uname = entry.gname = ""
    entry.mode = 0o600
    return entry


def read_manifest(file: Path) -> BackupManifest:
    """Read the manifest of a backup, and nothing else.

    Raises:
        InvalidInputError: The file is no backup, or its beginning is damaged.
        SchemaError: A newer version wrote it.
    """
    with _opened(file, to_the_end=False) as archive:
        return _manifest(archive, file)


def read_archive(file: Path, into: Path | None = None) -> BackupManifest:
    """Check a backup from end to end, and unpack it where a folder is given.

    Args:
        into: An empty folder; its content is invalid if an error is raised.

    Raises:
        InvalidInputError: It is no backup, or is truncated or changed.
        SchemaError: A newer version wrote it.
        OSError: It cannot be read, or the folder cannot be written.
    """
    with _opened(file) as archive:
        manifest = _manifest(archive, file)
        left = {one.name: one for one in manifest.files}
        while (entry := archive.next()) is not None:
            named = left.pop(entry.name, None)
            if named is None or not entry.isreg() or entry.size != named.bytes:
                raise InvalidInputError(f"{file}: {entry.name[:200]!r} is not what its manifest names")
            _take(archive, entry, named, into, file)
    if left:
        raise InvalidInputError(f"{file}: lacks {min(left)!r}, which its manifest names")
    return manifest


@contextmanager
def _opened(file: Path, *, to_the_end: bool = True) -> Iterator[tarfile.TarFile]:
    if not file.is_file():
        raise InvalidInputError(f"{file}: is no file")
    try:
        with gzip.open(file) as data, tarfile.open(fileobj=data, mode="r|") as archive:
            yield archive
            if to_the_end:
                _check_end(data, file)
    except InvalidInputError:
        raise
    except _DAMAGE as error:
        raise InvalidInputError(f"{file}: is no backup, or a damaged one: {str(error)[:200]}") from error


def _check_end(data: gzip.GzipFile, file: Path) -> None:
    """Read what fills the last record up, and with it the checksum of the whole."""
    if len(data.read(_MOST_FILLING + 1)) > _MOST_FILLING:
        raise InvalidInputError(f"{file}: goes on after its last file")


def _manifest(archive: tarfile.TarFile, file: Path) -> BackupManifest:
    entry = archive.next()
    if entry is None or entry.name != MANIFEST or not entry.isreg() or entry.size > _MOST_MANIFEST:
        raise InvalidInputError(f"{file}: is no backup of a memory; it does not begin with {MANIFEST}")
    data = _content(archive, entry).read()
    newest = {"version": VERSION, "schema": SCHEMA_VERSION}
    manifest = parse_manifest(BackupManifest, data, file, format=FORMAT, newest=newest)
    for one in manifest.files:
        if not fits(one.name):
            raise InvalidInputError(f"{file}: {one.name[:200]!r} is no file of a store")
    if len({one.name for one in manifest.files}) < len(manifest.files):
        raise InvalidInputError(f"{file}: its manifest names a file twice")
    return manifest


def fits(name: str) -> bool:
    """Say whether a file of this path can be in a backup: it stays in the store on every system."""
    steps = name.split("/")
    odd = any(step in ("", ".", "..") or step.endswith((" ", ".")) for step in steps)
    signs = any(sign in "\\:\0" or "\ud800" <= sign <= "\udfff" for sign in name)
    return steps[0] in PARTS and not odd and not signs


def _take(
    archive: tarfile.TarFile, entry: tarfile.TarInfo, named: Member, into: Path | None, file: Path
) -> None:
    digest = hashlib.sha256()
    content = _content(archive, entry)
    with _place(named, into) as place:
        while piece := content.read(_PIECE):
            digest.update(piece)
            if place is not None:
                place.write(piece)
    if digest.hexdigest() != named.sha256:
        raise InvalidInputError(f"{file}: {named.name!r} was changed since the backup was made")


@contextmanager
def _place(named: Member, into: Path | None) -> Iterator[IO[bytes] | None]:
    if into is None:
        yield None
        return
    path = into / named.name
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("xb") as place:
        yield place


def _content(archive: tarfile.TarFile, entry: tarfile.TarInfo) -> IO[bytes]:
    content = archive.extractfile(entry)
    if content is None:
        raise tarfile.ReadError(f"{entry.name!r} has no content")
    return content
