"""A memory to import into, and the files of other programs, written as their documentation says."""

import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import hydramem
from hydramem.core.settings.config_loading import load_config

Put = Callable[[str, object], str]
ENVIRONMENT = {"HYDRAMEM_STORAGE_GRAPH": "memory", "HYDRAMEM_EMBEDDING_MODEL": "hash"}


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[hydramem.Memory]:
    with hydramem.connect(tmp_path / "store", config=load_config(environment=ENVIRONMENT)) as opened:
        yield opened


@pytest.fixture
def put(tmp_path: Path) -> Put:
    """Write a file: text and bytes as they are, other values as JSON, and a list of texts as lines."""

    def write(name: str, content: object) -> str:
        path = tmp_path / "files" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, bytes):
            path.write_bytes(content)
        else:
            path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
        return os.fspath(path)

    return write


def content(memory: hydramem.Memory) -> dict[str, object]:
    """Return what a project holds, without what says when."""
    return {
        "memories": sorted((row.id, row.text, row.state) for row in memory.memories(limit=1000)),
        "entities": sorted((row.name, row.type, row.aliases) for row in memory.entities(limit=1000)),
        "relations": sorted((row.subject, row.type, row.object) for row in memory.relations(limit=1000)),
        "documents": sorted((row.source, row.content_hash) for row in memory.documents(limit=1000)),
        "changes": memory.stats().counts.changes,
    }
