"""The file of a backup: read whole or refused, and never writing beside where it is told to."""

import io
import json
import tarfile
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hydramem.core.errors import InvalidInputError, SchemaError
from hydramem.storage.backup.archive import (
    MANIFEST,
    BackupManifest,
    fits,
    member,
    read_archive,
    read_manifest,
    write_archive,
)
from tests.examples import FEW

FILES = {"graph/ladybug.db": b"\0graph" * 5000, "curated/default/MEMORY.md": b"Ada leads.", "config.yml": b""}
BASE = BackupManifest(
    engine="ladybug", created_by="tests", made_at=datetime(2026, 1, 2, tzinfo=UTC), files=()
)


@pytest.fixture
def staged(tmp_path: Path) -> Path:
    folder = tmp_path / "staged"
    for name, data in FILES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)
    return folder


@pytest.fixture
def made(tmp_path: Path, staged: Path) -> Path:
    file = tmp_path / "backup.tar.gz"
    manifest = replace(BASE, files=tuple(member(staged / name, name) for name in FILES))
    with file.open("wb") as data:
        write_archive(manifest, staged, data)
    return file


def forge(file: Path, manifest: object, *members: tuple[tarfile.TarInfo, bytes]) -> Path:
    """Write a tar by hand; a manifest that is text is written as it is."""
    text = manifest if isinstance(manifest, bytes) else json.dumps(manifest).encode()
    with tarfile.open(file, "w:gz") as archive:
        for entry, data in ((tarfile.TarInfo(MANIFEST), text), *members):
            entry.size = len(data)
            archive.addfile(entry, io.BytesIO(data))
    return file


def told(*names: str, **changed: object) -> dict[str, object]:
    sha = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    files = [{"name": name, "bytes": 0, "sha256": sha} for name in names]
    made_at = BASE.made_at.isoformat()
    values = {"format": "hydramem-backup", "version": 1, "schema": 1, "engine": "ladybug", "created_by": "x"}
    return {**values, "made_at": made_at, "files": files, **changed}


def test_what_was_written_is_read(made: Path, tmp_path: Path) -> None:
    manifest = read_archive(made, tmp_path / "out")
    assert manifest == read_manifest(made)
    assert {name: (tmp_path / "out" / name).read_bytes() for name in FILES} == FILES
    assert not (tmp_path / "out" / MANIFEST).exists()


@settings(FEW)
@given(share=st.floats(0.0, 0.9999))
def test_a_truncated_one_is_refused(share: float, tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("cut")
    source = folder / "graph" / "x"
    source.parent.mkdir()
    source.write_bytes(bytes(range(256)) * 400)
    whole = folder / "whole"
    with whole.open("wb") as data:
        write_archive(replace(BASE, files=(member(source, "graph/x"),)), folder, data)
    cut = folder / "cut"
    cut.write_bytes(whole.read_bytes()[: int(whole.stat().st_size * share)])
    with pytest.raises(InvalidInputError):
        read_archive(cut)


def test_an_edited_one_is_refused(made: Path, tmp_path: Path) -> None:
    with tarfile.open(made) as archive:
        entries = [(entry, archive.extractfile(entry).read()) for entry in archive]  # type: ignore[union-attr]
    edited = [(entry, data.replace(b"Ada", b"Eve")) for entry, data in entries[1:]]
    forged = forge(tmp_path / "forged", entries[0][1], *edited)
    with pytest.raises(InvalidInputError, match=r"MEMORY\.md"):
        read_archive(forged, tmp_path / "out")


def test_names_that_lead_out_are_refused(tmp_path: Path) -> None:
    outside = ("../evil", "/etc/evil", "graph/../../evil", "vectors/x", "graph//x", "graph\\..\\evil")
    for name in (*outside, "graph/C:", "a", ""):
        file = forge(tmp_path / "x", told(name), (tarfile.TarInfo(name), b""))
        with pytest.raises(InvalidInputError, match="no file of a store"):
            read_archive(file, tmp_path / "out")
        assert not (tmp_path / "evil").exists() and not (tmp_path / "out").exists()


def test_links_and_strangers_are_refused(tmp_path: Path) -> None:
    link = tarfile.TarInfo("graph/x")
    link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
    for number, members in enumerate([(link,), (tarfile.TarInfo("graph/y"),), ()]):
        file = forge(tmp_path / str(number), told("graph/x"), *((each, b"") for each in members))
        with pytest.raises(InvalidInputError):
            read_archive(file, tmp_path / "out")
    assert not list(tmp_path.glob("out/**/x"))


def test_what_is_no_manifest_or_no_backup_is_refused(tmp_path: Path) -> None:
    objects = ([], {"format": "other"}, told() | {"files": 3}, told("config.yml") | {"x": 1})
    for manifest in (b"", b"{", b"[" * 100_000, b"\xff", *objects):
        with pytest.raises(InvalidInputError):
            read_archive(forge(tmp_path / "x", manifest))
    for data in (b"", b"not a tar", b"\x1f\x8b" + b"\0" * 50):
        (tmp_path / "x").write_bytes(data)
        with pytest.raises(InvalidInputError):
            read_archive(tmp_path / "x")
    with pytest.raises(InvalidInputError):
        read_archive(tmp_path)


def test_a_newer_one_says_so(tmp_path: Path) -> None:
    for field in ("version", "schema"):
        with pytest.raises(SchemaError, match="newer"):
            read_manifest(forge(tmp_path / "x", told(**{field: 10_000})))


@given(st.text())
def test_a_name_that_fits_stays_in_the_folder(name: str) -> None:
    if fits(name):
        assert (Path("/store") / name).resolve().is_relative_to("/store")
