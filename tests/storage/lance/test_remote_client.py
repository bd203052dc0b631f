"""LanceDB is loaded without its remote client where a process asks for that, and does the same."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

_WHOLE_LIFE = """
import sys
from pathlib import Path

import pytest
import numpy as np
from hydramem.core.config import StorageConfig
from hydramem.storage.chunk_filter import ChunkFilter
from hydramem.storage.lance.remote_client import use_placeholders
from hydramem.storage.lance.vectors import open_vectors
from hydramem.storage.vector_rows import ChunkVector
from tests.storage.test_vector_store import chunk

use_placeholders()
vectors = np.eye(8, dtype=np.float32)
rows = [ChunkVector(chunk=chunk(f"c{i}", f"word{i} here"), vector=vectors[i]) for i in range(8)]
for _ in range(2):
    store = open_vectors(Path(sys.argv[1]), 8, StorageConfig(index_rows=4))
    store.put(rows)
    store.remove(chunks=["c7"])
    store.maintain(force=True)
    assert store.stats().indexed
    assert store.matching("word3", ChunkFilter(), 1)[0].id == "c3"
    assert store.nearest(rows[5].vector, ChunkFilter(), 1)[0].id == "c5"
    assert len(store.chunk_hashes()) == 7
    store.close()
assert "lance_namespace_urllib3_client" in sys.modules
assert not {"urllib3", "overrides.signature"} & set(sys.modules)
"""

_OLD_LANCEDB = """
from lance_namespace_urllib3_client.models import Request
KEPT = Request.fields
"""


def _run(program: str, *arguments: object, path: Path | None = None) -> None:
    before = os.environ.get("PYTHONPATH", "")
    paths = os.pathsep.join(filter(None, [str(path or ""), before, str(Path(__file__).parents[3])]))
    command = [sys.executable, "-c", program, *map(str, arguments)]
    subprocess.run(command, check=True, timeout=60, env=os.environ | {"PYTHONPATH": paths})


@pytest.mark.costly  # a process
def test_a_folder_is_served_without_the_remote_client(tmp_path: Path) -> None:
    _run(_WHOLE_LIFE, tmp_path / "vectors")


def test_a_lancedb_that_needs_the_client_gets_it(tmp_path: Path) -> None:
    for name, text in {
        "lancedb": _OLD_LANCEDB,
        "lance_namespace_urllib3_client": "",
        "lance_namespace_urllib3_client/models": "class Request:\n    fields = ('real',)\n",
    }.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_text(text)
    _run(
        "from hydramem.storage.lance.remote_client import import_lancedb, use_placeholders\n"
        "use_placeholders()\n"
        "assert import_lancedb().KEPT == ('real',)\n",
        path=tmp_path,
    )
