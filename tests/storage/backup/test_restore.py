"""Going back to a backup: killed anywhere, the folder is what it was or what the backup holds."""

import json
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path

import pytest

from hydramem.core.errors import InvalidInputError, StorageError
from hydramem.storage.backup.backup import backup, backups
from hydramem.storage.backup.restore import finish, restore

NOW = datetime(2026, 1, 2, tzinfo=UTC)
OLD = {
    "graph/ladybug.db": "old",
    "vectors/rows": "old",
    "curated/a": "old",
    "config.yml": "old",
    "telemetry.db": "t",
}
NEW = {"graph/ladybug.db": "new", "models/weights.json": "new", "config.yml": "new"}


def fill(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)


def content(folder: Path) -> dict[str, str]:
    """Return the files of a store, without what is kept aside."""
    files = (path for path in folder.rglob("*") if path.is_file())
    named = {path.relative_to(folder).as_posix(): path.read_text() for path in files}
    return {
        name: text
        for name, text in named.items()
        if not name.startswith(("replaced-", ".restoring-", "restoring.json.new"))
    }


def make(folder: Path, at: datetime = NOW, to: Path | None = None, keep: int = 0) -> Path:
    def save(graph: Path) -> None:
        (graph / "ladybug.db").write_text((folder / "graph" / "ladybug.db").read_text())

    done = backup(folder, save, engine="ladybug", created_by="tests", made_at=at, to=to, keep=keep)
    return Path(done.file)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    fill(tmp_path / "source", NEW)
    return make(tmp_path / "source", to=tmp_path / "backup.tar.gz")


@pytest.fixture
def store(tmp_path: Path) -> Path:
    fill(tmp_path / "store", OLD)
    return tmp_path / "store"


def go_back(file: Path, store: Path) -> Path | None:
    return restore(file, store, engine="ladybug", now=NOW).aside


def test_a_store_becomes_the_backup_and_its_old_state_is_kept(
    file: Path, store: Path, tmp_path: Path
) -> None:
    (tmp_path / "empty").mkdir()
    assert go_back(file, tmp_path / "empty") is None
    assert content(tmp_path / "empty") == NEW
    aside = go_back(file, store)
    assert content(store) == NEW | {"telemetry.db": "t"}
    assert aside is not None and content(aside) == {name: text for name, text in OLD.items() if text == "old"}


def test_what_does_not_fit_touches_nothing(file: Path, store: Path) -> None:
    with pytest.raises(InvalidInputError, match=r"set storage\.graph: ladybug"):
        restore(file, store, engine="kuzu", now=NOW)
    file.write_bytes(file.read_bytes()[:-40])
    with pytest.raises(InvalidInputError):
        go_back(file, store)
    assert content(store) == OLD and not list(store.glob(".restoring-*"))


class Killed(BaseException):
    pass


@contextmanager
def dying(after: int, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[], int]]:
    """Die at the system call that moves a file, after some of them."""
    calls = 0

    def dies(original: Callable[..., object]) -> Callable[..., object]:
        def call(*given: object, **options: object) -> object:
            nonlocal calls
            calls += 1
            if calls > after:
                raise Killed
            return original(*given, **options)

        return call

    with monkeypatch.context() as patched:
        for name in ("rename", "replace", "unlink"):
            patched.setattr(os, name, dies(getattr(os, name)))
        yield lambda: calls


@pytest.mark.parametrize("after", range(14))
def test_killed_anywhere_it_is_old_or_new(
    after: int, file: Path, store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with dying(after, monkeypatch), suppress(Killed):
        go_back(file, store)
    finish(store)
    assert content(store) in (OLD, NEW | {"telemetry.db": "t"})
    go_back(file, store)
    assert content(store) == NEW | {"telemetry.db": "t"}
    assert not list(store.glob(".restoring-*"))


def test_a_note_of_somebody_else_deletes_nothing(store: Path) -> None:
    outside = {"staged": "..", "aside": None, "parts": []}
    for note in ("", "[]", json.dumps(outside), json.dumps(outside | {"staged": "", "aside": ""})):
        (store / "restoring.json").write_text(note)
        with pytest.raises(StorageError):
            finish(store)
        assert OLD.items() <= content(store).items()


def test_the_newest_backups_are_kept(tmp_path: Path) -> None:
    store = tmp_path / "source"
    fill(store, NEW | {"backups/mine.tar.gz": "x"})
    made = [make(store, NOW.replace(minute=minute), keep=3) for minute in range(5)]
    assert list(backups(store)) == made[2:]
    assert (store / "backups" / "mine.tar.gz").exists()
    assert make(store, NOW.replace(minute=9), keep=1).exists()
    assert len(backups(store)) == 1


def test_a_backup_that_fails_leaves_nothing_and_removes_nothing(tmp_path: Path) -> None:
    store = tmp_path / "source"
    fill(store, NEW)
    first = make(store, keep=1)

    def fails(folder: Path) -> None:
        raise StorageError("disk")

    with pytest.raises(StorageError):
        backup(store, fails, engine="ladybug", created_by="t", made_at=NOW.replace(hour=5), keep=1)
    assert list((store / "backups").iterdir()) == [first]


def test_a_place_in_the_store_or_a_file_that_is_there_is_refused(tmp_path: Path) -> None:
    store = tmp_path / "source"
    fill(store, NEW)
    for place in (store / "graph" / "x.tar.gz", store / "config.yml", store / "models"):
        with pytest.raises(InvalidInputError):
            make(store, to=place)
    assert content(store) == NEW


def test_links_and_caches_stay_out(tmp_path: Path, file: Path) -> None:
    store = tmp_path / "source"
    fill(store, {"models/vog_replies.db": "secret", "models/vog_replies.db-wal": "secret"})
    (store / "curated").mkdir()
    (store / "curated" / "link").symlink_to("/etc/passwd")
    other = make(store, to=tmp_path / "other.tar.gz")
    (tmp_path / "empty").mkdir()
    go_back(other, tmp_path / "empty")
    assert content(tmp_path / "empty") == NEW
