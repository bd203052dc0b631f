"""A dump that is damaged, forged, newer or none is refused by file and line before anything is written."""

import hashlib
import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hydramem.core.errors import HydraMemError, InvalidInputError, SchemaError
from hydramem.storage.exchange.manifest import PARTS
from tests.storage.exchange.stores import SAMPLE, Store

Row = dict[str, Any]


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A dump of a little of everything."""
    folder = tmp_path_factory.mktemp("sample") / "dump"
    store = Store()
    store.put(SAMPLE)
    store.dump(folder, vectors=True)
    return folder


@pytest.fixture
def folder(sample: Path, tmp_path: Path) -> Path:
    """A copy of it."""
    return Path(shutil.copytree(sample, tmp_path / "dump"))


def refuse(folder: Path, match: str, kind: type[HydraMemError] = InvalidInputError, **options: Any) -> None:
    """Check that loading fails and leaves nothing."""
    store = Store()
    with pytest.raises(kind, match=match):
        store.load(folder, **options)
    assert not any(store.rows().values())
    assert store.embedded == 0


def forge(folder: Path, name: str, data: bytes) -> None:
    """Replace a file, and make the manifest vouch for it."""
    (folder / name).write_bytes(data)
    manifest = json.loads((folder / "manifest.json").read_text())
    for entry in manifest["files"]:
        if entry["name"] == name:
            entry.update(rows=data.count(b"\n"), bytes=len(data), sha256=hashlib.sha256(data).hexdigest())
    (folder / "manifest.json").write_text(json.dumps(manifest))


def edit(folder: Path, name: str, change: Callable[[list[Row]], None]) -> None:
    """Change the rows of a file, and make the manifest vouch for it."""
    rows = [json.loads(line) for line in (folder / name).read_bytes().splitlines()]
    change(rows)
    forge(folder, name, b"".join(json.dumps(row).encode() + b"\n" for row in rows))


def test_a_folder_that_is_no_dump_is_refused(tmp_path: Path) -> None:
    refuse(tmp_path / "absent", "is no dump")
    refuse(tmp_path, "is no dump")
    for text in ("", "[]", "{", "nul\0", '{"format": "other"}', "\ufeff{}", "[" * 100_000):
        (tmp_path / "manifest.json").write_text(text)
        refuse(tmp_path, "manifest.json: (is no manifest|its manifest is not JSON)")
    (tmp_path / "manifest.json").unlink()
    (tmp_path / "manifest.json").mkdir()
    refuse(tmp_path, "is no manifest")


def test_every_file_is_hashed(folder: Path) -> None:
    for part in PARTS:
        file = folder / part.file
        data = file.read_bytes()
        for damaged, told in (
            (data[:-5], "truncated"),
            (data + b"{}\n", "changed"),
            (data.replace(b'"', b"'", 1), "hash"),
        ):
            file.write_bytes(damaged)
            refuse(folder, rf"{part.file}.*{told}")
        file.write_bytes(data)
    file.unlink()
    refuse(folder, rf"{part.file}.*missing")
    file.symlink_to(folder / "manifest.json")
    refuse(folder, rf"{part.file}.*not a plain file")
    file.unlink()
    os.mkfifo(file)
    refuse(folder, rf"{part.file}.*not a plain file")


def test_a_newer_dump_says_so(folder: Path) -> None:
    manifest = json.loads((folder / "manifest.json").read_text())
    for name in ("version", "schema"):
        (folder / "manifest.json").write_text(json.dumps(manifest | {name: 99, "unheard_of": True}))
        refuse(folder, f"has {name} 99.*newer", SchemaError)


def test_a_forged_manifest_is_refused(folder: Path) -> None:
    manifest = json.loads((folder / "manifest.json").read_text())
    outside = {"name": "../../etc/passwd", "rows": 0, "bytes": 0, "sha256": ""}
    for change, told in (
        ({"files": []}, "does not name the files"),
        ({"files": [outside]}, "does not name"),
        ({"dimension": "many"}, "dimension"),
        ({"dimension": 17}, "not 17 numbers"),
        ({"files": None}, "files"),
        ({"version": "1"}, "version"),
        ({"signature": "00"}, "is signed"),
    ):
        (folder / "manifest.json").write_text(json.dumps({**manifest, **change}))
        refuse(folder, told)


def change_first(**fields: Any) -> Callable[[list[Row]], None]:
    return lambda rows: rows[0].update(fields)


def without(name: str) -> Callable[[list[Row]], None]:
    return lambda rows: rows[0].pop(name) and None


@pytest.mark.parametrize(
    ("name", "change", "told"),
    [
        ("chunks", change_first(text=3), "text: expected text, got 3"),
        ("chunks", without("recorded_at"), "recorded_at: is missing"),
        ("chunks", change_first(state="sleeping"), "state: 'sleeping' is none of active"),
        ("chunks", change_first(recorded_at="2024-01-01T00:00:00"), "not an ISO 8601 time"),
        ("chunks", change_first(recorded_at="0001-01-01T00:00:00+23:00"), "not an ISO 8601 time"),
        ("chunks", change_first(categories="a"), "categories: expected a list"),
        ("chunks", change_first(metadata=[]), "metadata: expected an object"),
        ("chunks", change_first(private=1), "private: expected true or false"),
        ("chunks", change_first(position=True), "position: expected a whole number"),
        ("chunks", change_first(position=2**70), "position: .*64 bits"),
        ("chunks", change_first(confidence="high"), "confidence: expected a number"),
        ("chunks", change_first(confidence=10**400), "confidence: the number is too large"),
        ("chunks", change_first(text="a\0b"), "text: holds a NUL"),
        ("chunks", change_first(text="\ud800"), "text: "),
        ("chunks", change_first(project="../../etc"), "project: .*looks like a path"),
        ("chunks", change_first(vectors=1), "'vectors' is no field of chunks"),
        ("chunks", change_first(document="d9"), "document: 'd9' is not in this dump"),
        ("chunks", change_first(id=""), "'' is no id"),
        ("chunks", change_first(id="c" * 201), "is no id"),
        ("chunks", change_first(id="c2"), "line 2: is not sorted, or is there twice"),
        ("entities", lambda rows: rows.reverse(), "line 2: is not sorted"),
        ("mentions", change_first(entity="e9"), "entity: 'e9' is not in this dump"),
        ("relations", change_first(object="e9"), "object: 'e9' is not in this dump"),
        ("relations", change_first(scores={"jaccard": "x"}), "scores.jaccard: expected a number"),
        ("recalled", lambda rows: rows.insert(0, rows[0]), "line 2: is not sorted, or is there twice"),
        ("chunk_vectors", change_first(id="c9"), "line (1|2): (id: 'c9' is not in this dump|is not sorted)"),
        ("chunk_vectors", change_first(vector="AAAA"), "vector: 3 bytes"),
        ("chunk_vectors", change_first(vector="A" * 84 + "AA=="), "(zero|bytes)"),
        ("entity_vectors", change_first(extra=1), "expected an object with `id` and `vector`"),
    ],
)
def test_a_row_that_no_store_holds_is_named(
    folder: Path, name: str, change: Callable[[list[Row]], None], told: str
) -> None:
    edit(folder, f"{name}.jsonl", change)
    refuse(folder, rf"{name}\.jsonl, line \d+: .*{told}" if "line" not in told else told)


def test_a_line_that_is_no_row_is_named(folder: Path) -> None:
    for line, told in (
        (b"\n", "not JSON"),
        (b"[]\n", "expected a JSON object"),
        (b"{}\n", "is missing"),
        (b"\xff\xfe\n", "not UTF-8"),
        (b'{"id": NaN}\n', "NaN is not JSON"),
        (b"[" * 200_000 + b"\n", "not JSON"),
        (b'{"a":' * 50_000 + b"\n", "not JSON"),
        (b'{"position": ' + b"9" * 5000 + b"}\n", "not JSON"),
        (b'{"id": "c1"}', "ends in the middle"),
    ):
        forge(folder, "documents.jsonl", line)
        refuse(folder, rf"documents\.jsonl, line 1: .*{told}")


def test_a_signed_dump_is_loaded_with_its_key_alone(tmp_path: Path) -> None:
    store = Store()
    store.put(SAMPLE)
    assert store.dump(tmp_path / "signed", key=b"secret").signed
    store.dump(tmp_path / "plain")
    refuse(tmp_path / "signed", "is signed; name the environment variable")
    refuse(tmp_path / "signed", "signature does not fit", key=b"other")
    refuse(tmp_path / "plain", "is not signed", key=b"secret")
    Store().load(tmp_path / "signed", key=b"secret")
    edit(tmp_path / "signed", "chunks.jsonl", change_first(text="Bob leads billing."))
    refuse(tmp_path / "signed", "signature does not fit", key=b"secret")
