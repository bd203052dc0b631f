"""A graph copied while it is in use: of one moment, also where the file changed under the copy."""

import os
import shutil
from pathlib import Path

import pytest

from hydramem.core.config import StorageConfig
from hydramem.storage.chunk_filter import ChunkFilter
from hydramem.storage.cypher.graph import open_graph
from hydramem.storage.store import Listing
from tests.storage.rows import chunk, write

ENGINE = os.environ.get("HYDRAMEM_TEST_ENGINE", "ladybug")


@pytest.mark.parametrize("disturbed", [0, 1, 3])
def test_a_copy_that_was_written_under_is_made_again(
    disturbed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = StorageConfig(graph=ENGINE, buffer_pool_mb=128, max_db_gb=8)  # type: ignore[arg-type]
    graph = open_graph(tmp_path / "graph", settings)
    graph.write(write(chunks=(chunk("c0", "First."),)))
    copies, copyfile = 0, shutil.copyfile

    def disturb(source: Path, to: Path) -> Path:
        nonlocal copies
        copies += 1
        if copies <= disturbed:
            graph.write(write(chunks=(chunk(f"c{copies}", "Later. " * 5000),)))
            graph.checkpoint()
            to.write_bytes(source.read_bytes()[:-1000])  # torn, as a copy is that a checkpoint cuts across
            return to
        return copyfile(source, to)

    (tmp_path / "copy").mkdir()
    with monkeypatch.context() as patched:
        patched.setattr(shutil, "copyfile", disturb)
        graph.save(tmp_path / "copy")
    assert copies == disturbed + 1
    graph.write(write(chunks=(chunk("c9", "Not in it."),)))
    graph.close()
    copied = open_graph(tmp_path / "copy", settings)
    rows = copied.list_chunks(ChunkFilter(), Listing(limit=20))
    copied.close()
    assert {row.id for row in rows} == {f"c{number}" for number in range(disturbed + 1)}
