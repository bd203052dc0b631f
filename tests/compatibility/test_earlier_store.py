"""A store, a dump and a backup that an earlier version wrote are opened, read and written back unchanged.

The files in `data` were made by version 0.1.0 as it was before its modules moved. Each holds two documents,
memories (one revised, one forgotten, one quarantined), a session, asserted relations and a gardener run.
"""

import json
import tarfile
from collections.abc import Iterator
from pathlib import Path

import pytest

import hydramem
from hydramem.core.config import Config, EmbeddingConfig, StorageConfig
from tests.engines import DISK_ENGINE

DATA = Path(__file__).parent / "data"
CONFIG = Config(
    storage=StorageConfig(graph=DISK_ENGINE, buffer_pool_mb=256, max_db_gb=8),  # type: ignore[arg-type]
    embedding=EmbeddingConfig(model="hash"),
)
QUESTION = "which database does billing use?"
ANSWERS = [
    "Ada leads the billing team. The billing service runs on PostgreSQL.",
    "The billing service was moved from Oracle to PostgreSQL in 2021. Grace Hopper works at Acme.",
    "Billing uses PostgreSQL.",
]

pytestmark = pytest.mark.costly  # opens a whole memory on disk


def unpacked(name: str, folder: Path) -> Path:
    """Unpack one of the archives and return the folder that it holds."""
    with tarfile.open(DATA / f"{name}-{DISK_ENGINE}.tar.xz") as archive:
        archive.extractall(folder, filter="data")
    return folder / name


def files(folder: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in folder.iterdir()}


@pytest.fixture
def dump(tmp_path: Path) -> dict[str, bytes]:
    """The dump that the earlier version wrote of its store."""
    return files(unpacked("dump", tmp_path / "earlier"))


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[hydramem.Memory]:
    with hydramem.connect(tmp_path / "store", config=CONFIG, project="notes") as memory:
        yield memory


def dumped(memory: hydramem.Memory, folder: Path) -> dict[str, bytes]:
    """Return the files of a dump as the earlier version wrote them: rows of version 3, without items."""
    memory.dump(str(folder))
    found = files(folder)
    assert found.pop("items.jsonl") == b""
    manifest = json.loads(found["manifest.json"])
    named = [entry for entry in manifest["files"] if entry["name"] != "items.jsonl"]
    earlier = {**manifest, "schema": 3, "created_by": "hydramem 0.1.0", "files": named}
    return {**found, "manifest.json": json.dumps(earlier, indent=2, ensure_ascii=False).encode() + b"\n"}


def test_a_store_opens_as_it_was(tmp_path: Path, dump: dict[str, bytes]) -> None:
    store = unpacked("store", tmp_path)
    with hydramem.connect(store, config=CONFIG, project="notes") as memory:
        assert dumped(memory, tmp_path / "dump") == dump
        assert memory.doctor().healthy
        assert [hit.text for hit in memory.recall(QUESTION, limit=3).hits] == ANSWERS
        assert memory.path("Ada", "Acme").found
        memory.remember("Dora joined the search team.")
        assert memory.doctor().healthy


def test_a_dump_is_loaded(memory: hydramem.Memory, tmp_path: Path, dump: dict[str, bytes]) -> None:
    memory.load(str(tmp_path / "earlier" / "dump"))
    assert dumped(memory, tmp_path / "dump") == dump
    assert [hit.text for hit in memory.recall(QUESTION, limit=3).hits] == ANSWERS


def test_a_backup_is_restored(memory: hydramem.Memory, tmp_path: Path, dump: dict[str, bytes]) -> None:
    memory.restore(str(DATA / f"backup-{DISK_ENGINE}.tar.gz"))
    assert dumped(memory, tmp_path / "dump") == dump
    assert memory.doctor().healthy
