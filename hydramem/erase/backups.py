"""Backups in the store's folder, and whole stores that a restore kept there, without what is erased."""

import tempfile
from contextlib import closing
from dataclasses import replace
from pathlib import Path

from hydramem.core.config import StorageConfig
from hydramem.core.errors import HydraMemError, InvalidInputError
from hydramem.erase.copy_stores import copy_graph, open_empty_graph
from hydramem.erase.erasure import Erasure, ErasureRequest
from hydramem.erase.find import find
from hydramem.erase.side_files import Staging, stage_side_files, vector_folders
from hydramem.erase.switch import remove
from hydramem.storage.backup.archive import BackupManifest, member, read_archive, write_archive
from hydramem.storage.backup.backup import FOLDER
from hydramem.storage.cypher.graph import open_graph
from hydramem.storage.files.durable_files import sync_tree
from hydramem.storage.schema import REQUEST, SCHEMA_VERSION

_SCRATCH = ".backup"


def stage_backups(
    staging: Staging, request: ErasureRequest, erasure: Erasure, settings: StorageConfig
) -> None:
    """Stage each backup in a store's folder that holds something of an erasure; others stay as they are."""
    for left in staging.parts(f"{FOLDER}/.making-*"):
        staging.delete(left)  # of a process that was killed
    for file in staging.parts(f"{FOLDER}/*"):
        if file.is_file():
            try:
                _stage_backup(staging, file, request, erasure, settings)
            except HydraMemError as error:
                staging.name(file, f"what it holds cannot be looked at ({error}): delete it")


def _stage_backup(
    staging: Staging, file: Path, request: ErasureRequest, erasure: Erasure, settings: StorageConfig
) -> None:
    with tempfile.TemporaryDirectory(prefix=_SCRATCH, dir=staging.staged) as scratch:
        unpacked = Path(scratch) / "unpacked"
        unpacked.mkdir()
        manifest = read_archive(file, unpacked)
        if manifest.engine != settings.graph:
            raise InvalidInputError(f"it is of {manifest.engine}, which this process cannot read")
        inner = Staging(folder=unpacked, staged=Path(scratch) / "staged")
        if _stage_store(inner, request, erasure, settings):
            _put_in_place(inner)
            _pack(staging.place(file.relative_to(staging.root)), manifest, unpacked)
        for one in inner.to_edit:
            inside = Path(one.path).relative_to(unpacked)
            staging.name(file, f"{inside} in it states something of the erased text: delete this backup")


def _pack(place: Path, manifest: BackupManifest, folder: Path) -> None:
    names = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())
    fresh = replace(
        manifest, schema=SCHEMA_VERSION, files=tuple(member(folder / name, name) for name in names)
    )
    with place.open("xb") as data:
        write_archive(fresh, folder, data)


def _put_in_place(inner: Staging) -> None:
    """Exchange the files of an unpacked backup, which nobody else sees."""
    for path in (*inner.replaced, *inner.deleted):
        old, new = inner.folder / path, inner.staged / path
        remove(old)
        if new.exists():
            new.rename(old)


def stage_kept_stores(
    staging: Staging, request: ErasureRequest, erasure: Erasure, settings: StorageConfig
) -> None:
    """Stage the stores that restores kept aside, without their vectors, which derive from their graphs."""
    for folder in staging.parts("replaced-*"):
        inner = Staging(
            folder=staging.folder, staged=staging.staged, within=folder.relative_to(staging.folder)
        )
        for vectors in vector_folders(inner):
            inner.delete(vectors)
        try:
            _stage_store(inner, request, erasure, settings)
        except HydraMemError as error:
            staging.name(
                folder, f"this store, which a restore kept, cannot be written anew ({error}): delete it"
            )
            continue
        staging.replaced += inner.replaced
        staging.deleted += inner.deleted
        staging.to_edit += inner.to_edit


def _stage_store(inner: Staging, request: ErasureRequest, known: Erasure, settings: StorageConfig) -> bool:
    """Stage graph and files of a store that is not in use; return whether anything of it changes."""
    graph = inner.root / "graph"
    if not graph.is_dir():
        stage_side_files(inner, known)
        return bool(inner.replaced or inner.deleted)
    made = inner.staged / inner.within / "graph"
    made.parent.mkdir(parents=True, exist_ok=True)
    with closing(open_graph(graph, settings)) as source, closing(open_empty_graph(made, settings)) as copy:
        erasure = find(source, request, known)
        counts = copy_graph(source, copy, erasure)
        answers = any(source.scan(REQUEST))  # they hold text, and are not copied
    stage_side_files(inner, erasure)
    if counts or answers:
        sync_tree(made)
        inner.place("graph")
    return bool(counts or answers or inner.replaced or inner.deleted)
