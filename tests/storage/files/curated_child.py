"""Adds entries to a curated file: `python -m tests.storage.files.curated_child FILE NAME COUNT`."""

import sys
from itertools import count
from pathlib import Path

from hydramem.core.inputs import CuratedChange
from hydramem.storage.files.curated_files import changed, read_curated, write_curated, writing

LIMIT = 100_000


def add(path: Path, content: str) -> None:
    """Add an entry as `curate` does: read, changed and written under one lock."""
    with writing(path):
        held = read_curated(path, limit=LIMIT)
        change = CuratedChange(action="add", content=content)
        write_curated(path, changed(held, [change], limit=LIMIT, name=path.name, shown=str))


if __name__ == "__main__":
    path, name, times = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
    for step in range(times) if times else count():
        add(path, f"{name} {step}\nsecond line of {name} {step}")
        sys.stdout.write(f"{step}\n")
        sys.stdout.flush()
