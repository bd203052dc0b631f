"""A file that is created apart holds nothing of this process, whose memory LadybugDB fills a page up with."""

import subprocess
import sys
from pathlib import Path

import pytest

WORDS = "the vermilion ledger in cabinet nineteen "
CHILD = """
import ctypes, sys
from pathlib import Path
from hydramem.core.config import StorageConfig
from hydramem.storage.cypher.graph import open_graph

library = ctypes.CDLL(None)
library.malloc.restype, library.malloc.argtypes = ctypes.c_void_p, [ctypes.c_size_t]
library.free.argtypes = [ctypes.c_void_p]
folder, engine, words, apart = Path(sys.argv[1]), sys.argv[2], sys.argv[3].encode(), sys.argv[4] == "True"
settings = StorageConfig(graph=engine, buffer_pool_mb=64, max_db_gb=1)
open_graph(folder / "other", settings).close()  # loads the engine
for size in (4080, 4096, 4112, 8192):
    blocks = [library.malloc(size) for _ in range(400)]
    for block in blocks:
        ctypes.memmove(block, (words * (size // len(words) + 1))[:size], size)
    for block in blocks:
        library.free(block)
open_graph(folder / "new", settings, created_apart=apart).close()
"""
"""Leaves words in freed memory, so that what is allocated next begins with these, and creates a store."""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="fills memory by glibc's malloc")
@pytest.mark.costly  # two processes, in which memory is filled
def test_a_file_that_is_created_apart_holds_nothing_of_this_process(tmp_path: Path, engine: str) -> None:
    held = {}
    for apart in (False, True):
        folder = tmp_path / str(apart)
        subprocess.run([sys.executable, "-c", CHILD, str(folder), engine, WORDS, str(apart)], check=True)
        held[apart] = any(WORDS.encode() in file.read_bytes() for file in (folder / "new").iterdir())
    assert not held[True]
    if engine == "ladybug" and not held[False]:
        pytest.skip("the engine fills no page up with freed memory here")
