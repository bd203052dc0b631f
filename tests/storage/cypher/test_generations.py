"""Which generation of a graph file serves, and what is left of the others."""

from pathlib import Path

import pytest

from hydramem.core.errors import StorageError
from hydramem.storage.cypher.checkpoints.generations import (
    POINTER,
    next_file,
    remove_others,
    serve,
    serving_file,
)
from hydramem.storage.files.sparse_files import bytes_on_disk, copy_sparse


def make(folder: Path, *names: str) -> None:
    for name in names:
        (folder / name).write_text(name)


def test_a_store_of_before_serves_its_only_file(tmp_path: Path) -> None:
    first = tmp_path / "ladybug.db"
    assert serving_file(first) == first
    make(tmp_path, "ladybug.db", "ladybug.2.db")  # the second was being made
    assert serving_file(tmp_path / "ladybug.2.db") == first
    assert next_file(first).name == "ladybug.2.db"
    assert next_file(tmp_path / "ladybug.9.db").name == "ladybug.10.db"


def test_the_pointer_decides_whatever_else_is_there(tmp_path: Path) -> None:
    serve(tmp_path / "ladybug.9.db")
    assert serving_file(tmp_path / "ladybug.db").name == "ladybug.9.db", "one that is gone is named, too"
    make(tmp_path, "ladybug.db", "ladybug.9.db", "ladybug.10.db", "kuzu.db")
    assert serving_file(tmp_path / "ladybug.db").name == "ladybug.9.db"


@pytest.mark.parametrize("written", ["ladybug.8.db\n", "", "\0\0\0", "../../other.db"])
def test_a_damaged_pointer_never_guesses_between_two(tmp_path: Path, written: str) -> None:
    make(tmp_path, "ladybug.3.db")
    (tmp_path / POINTER).write_text(written)
    assert serving_file(tmp_path / "ladybug.db").name == "ladybug.3.db"
    make(tmp_path, "ladybug.4.db")
    with pytest.raises(StorageError, match=r"names none of ladybug\.3\.db, ladybug\.4\.db"):
        serving_file(tmp_path / "ladybug.db")


def test_only_what_no_generation_needs_is_deleted(tmp_path: Path) -> None:
    kept = ("ladybug.2.db", "ladybug.2.db.wal", "ladybug.db.wal.torn-20260101", "engine", "kuzu.db")
    make(tmp_path, *kept, "ladybug.db", "ladybug.db.wal", "ladybug.3.db", "ladybug.3.db.shadow")
    (tmp_path / ".checkpoint-x").mkdir()
    make(tmp_path / ".checkpoint-x", "ladybug.3.db")
    remove_others(tmp_path / "ladybug.2.db")
    assert sorted(each.name for each in tmp_path.iterdir()) == sorted(kept)


def test_a_sparse_file_is_copied_with_its_holes(tmp_path: Path) -> None:
    source, copy = tmp_path / "source", tmp_path / "copy"
    with source.open("wb") as file:
        file.write(b"first")
        file.seek(64 << 20)
        file.write(b"middle")
        file.truncate(128 << 20)
    copy_sparse(source, copy)
    assert copy.stat().st_size == 128 << 20 and bytes_on_disk(copy) < 1 << 20
    with copy.open("rb") as file:
        assert file.read(6) == b"first\0"
        file.seek((64 << 20) - 1)
        assert file.read(8) == b"\0middle\0"
