"""Check a dump from end to end before anything of it is written: files, hashes, lines, order, references."""

from dataclasses import dataclass
from pathlib import Path

from hydramem.core.errors import InvalidInputError
from hydramem.storage.exchange.json_lines import refused, rows_of, vectors_of
from hydramem.storage.exchange.manifest import (
    VECTORS,
    DumpManifest,
    DumpPart,
    Key,
    check_file,
    check_signature,
    read_manifest,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedDump:
    """A dump that can be loaded."""

    folder: Path
    manifest: DumpManifest

    def vectors_file(self, part: DumpPart) -> Path | None:
        """Return the file of the vectors of a part's rows; None where the dump has none."""
        name = VECTORS.get(part.table.name)
        return None if name is None or not self.manifest.vectors else self.folder / f"{name}.jsonl"

    @property
    def rows(self) -> int:
        """Rows of all parts together."""
        return sum(self.manifest.entries[part.file].rows for part in self.manifest.parts)


def check(folder: Path, *, key: bytes | None) -> CheckedDump:
    """Check a whole dump, so that one that passes can be loaded completely.

    Only the ids of its nodes are held in memory.

    Args:
        key: Checks its signature; None where it is not to be signed.

    Raises:
        InvalidInputError: It is no dump, truncated, changed, or holds what no store holds; the message
            names file and line.
        SchemaError: A newer version wrote it.
    """
    manifest = read_manifest(folder)
    check_signature(manifest, key, folder)
    checked = CheckedDump(folder=folder, manifest=manifest)
    _check_files(checked)
    parts = manifest.parts
    ids: dict[str, set[str]] = {part.table.name: set() for part in parts if part.is_node}
    for part in parts:
        _check_rows(part, checked, ids)
        _check_vectors(part, checked, ids)
    return checked


def _check_files(checked: CheckedDump) -> None:
    parts = checked.manifest.parts
    wanted = {part.file for part in parts} | {
        f.name for f in map(checked.vectors_file, parts) if f is not None
    }
    entries = checked.manifest.entries
    if len(entries) != len(checked.manifest.files) or entries.keys() != wanted:
        odd = min(entries.keys() ^ wanted, default="one twice")
        raise InvalidInputError(
            f"{checked.folder}: its manifest does not name the files of a dump ({odd[:80]!r})"
        )
    for entry in checked.manifest.files:
        check_file(checked.folder, entry)


def _check_rows(part: DumpPart, checked: CheckedDump, ids: dict[str, set[str]]) -> None:
    file, last, number = checked.folder / part.file, (), 0
    for number, row in rows_of(part, checked.folder):
        key: Key = part.order(row)
        if last and key <= last:
            raise refused(file, number, "is not sorted, or is there twice")
        last = key
        for name, table, id in part.referred(row):
            if id not in ids[table]:
                raise refused(file, number, f"{name}: {id!r} is not in this dump")
        if part.is_node:
            ids[part.table.name].add(row.id)
    _check_count(file, number, checked)


def _check_vectors(part: DumpPart, checked: CheckedDump, ids: dict[str, set[str]]) -> None:
    file = checked.vectors_file(part)
    if file is None:
        return
    last, number = "", 0
    for number, id, _ in vectors_of(file, checked.manifest.dimension):
        if id <= last:
            raise refused(file, number, "is not sorted, or is there twice")
        if id not in ids[part.table.name]:
            raise refused(file, number, f"id: {id!r} is not in this dump")
        last = id
    _check_count(file, number, checked)


def _check_count(file: Path, rows: int, checked: CheckedDump) -> None:
    expected = checked.manifest.entries[file.name].rows
    if rows != expected:
        raise InvalidInputError(f"{file}: has {rows} rows, the manifest says {expected}")
