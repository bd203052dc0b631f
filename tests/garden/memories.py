"""Memories for tests of phases: a store with a scripted model, and what a night makes of it."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import hydramem
from hydramem.core.results.garden_results import Gardened
from hydramem.core.row_types import Phase
from hydramem.core.settings.config_loading import load_config
from hydramem.llm.scripted_generator import ScriptedGenerator
from hydramem.storage.changes import record
from hydramem.storage.undo.row_images import TABLES
from hydramem.storage.write import Write
from tests.engines import ENGINE

GIVEN = {"STORAGE_GRAPH": ENGINE, "EMBEDDING_MODEL": "hash", "MEMORY_COGNITIVE": "false"}
OPEN = {
    "VERIFICATION_ACCEPT_AT": "1.0",
    "VERIFICATION_REJECT_BELOW": "0.0",
    "VERIFICATION_VOG_SAMPLE_SHARE": "0",
}
"""Thresholds that leave everything to a model."""


@contextmanager
def opened(folder: Path, script: Any = None, **settings: str) -> Iterator[hydramem.Memory]:
    """Open a memory; `script` is what its model says."""
    config = load_config(environment={f"HYDRAMEM_{key}": value for key, value in (GIVEN | settings).items()})
    generator = None if script is None else ScriptedGenerator(script)
    with hydramem.connect(folder, config=config, generator=generator) as memory:
        yield memory


def night(memory: hydramem.Memory, *phases: Phase, **options: Any) -> Gardened:
    """Let some phases run."""
    (report,) = memory.garden(phases=phases, **options)
    return report


def put(memory: hydramem.Memory, **rows: Any) -> None:
    """Write rows past every flow that would judge them."""
    change = record("test", project="default", target="any")
    memory._use().mirror.commit(Write(changes=(change,), **rows))


def rows(memory: hydramem.Memory) -> dict[str, list[Any]]:
    """Return every row but the audit, without what upkeep writes."""
    graph = memory._use().graph
    found = {name: [row for part in graph.scan(table) for row in part] for name, table in TABLES.items()}
    return found | {"Chunk": [replace(row, vector_state="ready") for row in found["Chunk"]]}
