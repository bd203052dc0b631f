"""The manifest of a dump: what it holds, the hash of each file, and a signature where a key was given."""

import hashlib
import hmac
import json
import stat
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from hydramem.core.errors import InvalidInputError
from hydramem.storage.files.manifests import parse_manifest
from hydramem.storage.schema import (
    CHANGE,
    CHUNK,
    DOCUMENT,
    ENTITY,
    ITEM,
    JOB,
    LINKS,
    MENTIONS,
    RECALLED,
    RELATES,
    ROWS_VERSION,
    SESSION,
    EdgeTable,
    NodeTable,
    Table,
)
from hydramem.storage.write_validation import edge_order

FORMAT = "hydramem-dump"
VERSION = 1
"""Of the format; the rows have the schema's own version."""
MANIFEST = "manifest.json"
Key = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class DumpPart:
    """One file of a dump: the rows of one table."""

    table: Table

    @property
    def name(self) -> str:
        """The file's name without `.jsonl`, and what the rows are called in results."""
        return self.table.plural

    @property
    def file(self) -> str:
        """The file's name."""
        return f"{self.name}.jsonl"

    @property
    def is_node(self) -> bool:
        """Whether its rows are nodes, which others may refer to."""
        return isinstance(self.table, NodeTable)

    @property
    def order(self) -> Callable[[Any], Key]:
        """The key that rows are sorted by, and that identifies them: edges by their ends first."""
        if isinstance(self.table, EdgeTable):
            return edge_order(self.table)
        return lambda row: (row.id,)

    def referred(self, row: Any) -> Iterator[tuple[str, str, str]]:
        """Yield the field, table and id of every row that a row refers to."""
        for name, table in self.table.references:
            if (id := getattr(row, name)) is not None:
                yield name, table, id


PARTS = tuple(
    DumpPart(table)
    for table in (DOCUMENT, SESSION, ENTITY, CHUNK, ITEM, MENTIONS, RELATES, LINKS, RECALLED, CHANGE, JOB)
)
"""Every table but the outbox and requests, which are a store's own; each after the tables it refers to."""
_ITEMS_SINCE = 4
"""Version of the rows from which dumps have items."""
VECTORS = {"Chunk": "chunk_vectors", "Entity": "entity_vectors"}
"""Names of the files of vectors, by the table whose rows they belong to."""
_STRICT: Any = {"extra": "forbid"}
_MOST_BYTES = 16 * 2**20


@dataclass(frozen=True, slots=True, kw_only=True)
class FileEntry:
    """A file of a dump.

    Attributes:
        rows: Its lines.
        sha256: Hash of its bytes, in hex.
    """

    __pydantic_config__ = _STRICT

    name: str
    rows: int
    bytes: int
    sha256: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DumpManifest:
    """What a dump holds. It has no time in it: the same memory gives the same bytes.

    Attributes:
        format: Always `hydramem-dump`.
        version: Of the format.
        schema: Version of the rows.
        created_by: Program and version that wrote it.
        embedder: Fingerprint of the embedder of the store; vectors serve a store of the same one.
        dimension: Length of a vector.
        vectors: Whether the vectors are here.
        projects: The projects that hold rows.
        signature: HMAC-SHA256, in hex, of this file as it is with null here; null where it is not signed.
    """

    __pydantic_config__ = _STRICT

    format: str = FORMAT
    version: int = VERSION
    schema: int = ROWS_VERSION
    created_by: str
    embedder: str
    dimension: int
    vectors: bool
    projects: tuple[str, ...]
    files: tuple[FileEntry, ...]
    signature: str | None = None

    @property
    def parts(self) -> tuple[DumpPart, ...]:
        """The parts that dumps of this version of the rows have."""
        return PARTS if self.schema >= _ITEMS_SINCE else tuple(p for p in PARTS if p.table is not ITEM)

    @property
    def entries(self) -> dict[str, FileEntry]:
        """The files by name."""
        return {entry.name: entry for entry in self.files}


def text(manifest: DumpManifest) -> bytes:
    """Return a manifest as the text of its file."""
    return json.dumps(asdict(manifest), indent=2, ensure_ascii=False).encode() + b"\n"


def signed(manifest: DumpManifest, key: bytes) -> DumpManifest:
    """Return a manifest with its signature; the hashes in it vouch for every other file."""
    return replace(manifest, signature=_signature(manifest, key))


def _signature(manifest: DumpManifest, key: bytes) -> str:
    return hmac.new(key, text(replace(manifest, signature=None)), hashlib.sha256).hexdigest()


def check_signature(manifest: DumpManifest, key: bytes | None, place: Path) -> None:
    """Raise InvalidInputError where a signature is missing, wrong, or cannot be checked for want of a key."""
    if key is None:
        if manifest.signature is not None:
            raise InvalidInputError(
                f"{place}: is signed; name the environment variable that holds its key (sign_key_env)"
            )
    elif manifest.signature is None:
        raise InvalidInputError(f"{place}: is not signed, and a key was named to check it with")
    elif not hmac.compare_digest(manifest.signature.encode(), _signature(manifest, key).encode()):
        raise InvalidInputError(f"{place}: its signature does not fit: another key, or it was changed")


def read_manifest(folder: Path) -> DumpManifest:
    """Read the manifest of a dump.

    Raises:
        InvalidInputError: The folder is no dump, or its manifest is damaged.
        SchemaError: A newer version wrote it.
    """
    place = folder / MANIFEST
    if not folder.is_dir() or not place.exists():
        raise InvalidInputError(f"{folder}: is no dump; it has no {MANIFEST}")
    if not is_plain_file(place) or place.stat().st_size > _MOST_BYTES:
        raise InvalidInputError(f"{place}: is no manifest of a dump")
    newest = {"version": VERSION, "schema": ROWS_VERSION}
    return parse_manifest(DumpManifest, place.read_bytes(), place, format=FORMAT, newest=newest)


def is_plain_file(path: Path) -> bool:
    """Say whether a path is a file itself: no link out of the folder, no pipe that would never end."""
    try:
        return stat.S_ISREG(path.lstat().st_mode)
    except OSError:
        return False


def check_file(folder: Path, entry: FileEntry) -> None:
    """Check that a file is the one that was written.

    Raises:
        InvalidInputError: It is gone, truncated or changed.
    """
    file = folder / entry.name
    if not is_plain_file(file):
        raise InvalidInputError(f"{file}: is missing, or is not a plain file")
    size = file.stat().st_size
    if size != entry.bytes:
        what = "truncated" if size < entry.bytes else "changed since it was written"
        raise InvalidInputError(f"{file}: has {size:,} of {entry.bytes:,} bytes: the dump is {what}")
    with file.open("rb") as data:
        digest = hashlib.file_digest(data, "sha256")
    if digest.hexdigest() != entry.sha256:
        raise InvalidInputError(f"{file}: was changed since it was written: its hash is not the manifest's")
