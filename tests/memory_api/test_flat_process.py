"""A process that writes and opens for long holds no more descriptors and threads than at first."""

import sys
from collections.abc import Iterator
from pathlib import Path
from statistics import median

import pytest

import hydramem
from hydramem.core.config import Config, EmbeddingConfig, StorageConfig

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="reads /proc"),
]

# Few fragments, so that upkeep comes often: each replaces the files of an index.
CONFIG = Config(embedding=EmbeddingConfig(model="hash"), storage=StorageConfig(compact_fragments=8))
_SPARE = 6


def held() -> Iterator[int]:
    """Yield how many descriptors and how many threads this process has."""
    for part in ("fd", "task"):
        yield len(list(Path(f"/proc/self/{part}").iterdir()))


def test_single_writes_leave_descriptors_as_they_were(tmp_path: Path) -> None:
    counts = []
    with hydramem.connect(tmp_path / "store", config=CONFIG) as memory:
        for number in range(160):
            memory.remember(f"Ada told Bob about crate {number} of project {number % 7}.")
            memory.recall(f"crate {number}")
            counts.append(next(held()))
    # A compaction has files open for a moment; what leaks stays open.
    assert median(counts[-40:]) <= max(counts[:60]) + _SPARE


def test_openings_leave_descriptors_and_threads_as_they_were(tmp_path: Path) -> None:
    counts = []
    for number in range(25):
        with hydramem.connect(tmp_path / "store", config=CONFIG) as memory:
            if number < 3:
                memory.remember(f"Ada leads project {number}.")
            memory.recall("Ada")
        counts.append(tuple(held()))
    descriptors, threads = zip(*counts, strict=True)
    assert max(descriptors[10:]) <= max(descriptors[:10])
    assert max(threads[10:]) <= max(threads[:10]) + _SPARE
