"""Graphs whose process died, and damage to their files."""

import hashlib
import random
import shutil
from pathlib import Path

from hydramem.core.config import StorageConfig
from hydramem.storage.cypher.graph import CypherGraph, open_graph
from hydramem.storage.cypher.open_database import log_file
from hydramem.storage.cypher.schema_statements import graph_file
from tests.engines import DISK_ENGINE
from tests.storage.rows import chunk, write

SETTINGS = StorageConfig(graph=DISK_ENGINE, buffer_pool_mb=128, max_db_gb=8)  # type: ignore[arg-type]
ROWS = 20


def killed_graph(folder: Path, *, first: bool = False) -> Path:
    """Return the folder of a graph whose process died after ROWS commits, each of a chunk, all in its log.

    Args:
        folder: An empty folder.
        first: Whether the process had also made the graph, so that its tables are in the log too.
    """
    store = open_graph(folder / "live", SETTINGS)
    if not first:
        store.checkpoint()
        store.close()
        store = open_graph(folder / "live", SETTINGS)
    for number in range(ROWS):
        store.write(write(chunks=(chunk(f"c{number}", f"Crate {number} stands in hall {number * 7}."),)))
    shutil.copytree(folder / "live", folder / "killed")
    store.close()
    return folder / "killed"


def log_of(folder: Path) -> Path:
    """Return the log of a graph's folder."""
    return log_file(graph_file(folder, DISK_ENGINE))


def flip(file: Path, byte: int, bit: int = 0) -> None:
    """Change one bit of a file."""
    data = bytearray(file.read_bytes())
    data[byte] ^= 1 << bit
    file.write_bytes(data)


def hashes(folder: Path) -> dict[str, str]:
    """Return the hash of every file in a folder by its path."""
    return {
        str(path.relative_to(folder)): hashlib.md5(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def rows_in(store: CypherGraph) -> int:
    """Return how many of the chunks are there; they must be the first ones, as they were written."""
    found = store.chunks([f"c{number}" for number in range(ROWS)])
    for number, row in enumerate(found):
        assert (row.id, row.text) == (f"c{number}", f"Crate {number} stands in hall {number * 7}.")
    return len(found)


def places(log: Path, seed: int, number: int) -> list[int]:
    """Return random places in a log."""
    return random.Random(seed).sample(range(log.stat().st_size), number)
