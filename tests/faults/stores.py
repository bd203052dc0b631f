"""Whole stores whose process died, with memories in the log and in the vectors."""

import shutil
from pathlib import Path

import hydramem
from hydramem.core.config import Config, EmbeddingConfig
from tests.faults.damage import SETTINGS

CONFIG = Config(storage=SETTINGS, embedding=EmbeddingConfig(model="hash"))
EARLIER, LATER = 3, 9


def sentence(number: int) -> str:
    """Return the text of a memory, which no other one resembles."""
    return f"Crate {number} of the harbour stands in hall {number * 7}, behind the gate of pier {number * 3}."


def remember(memory: hydramem.Memory, number: int) -> str:
    """Store a memory and return its id."""
    return memory.remember(sentence(number), kind="note").id


def killed_store(folder: Path) -> Path:
    """Return a store whose process died: EARLIER memories in its graph file, LATER ones in its log."""
    with hydramem.connect(folder / "live", config=CONFIG) as memory:
        for number in range(EARLIER):
            remember(memory, number)
        memory.drain()
        memory._opened.graph.checkpoint()
    with hydramem.connect(folder / "live", config=CONFIG) as memory:
        for number in range(EARLIER, EARLIER + LATER):
            remember(memory, number)
        memory.drain()
        shutil.copytree(folder / "live", folder / "killed")
    for left in (folder / "killed").glob("owner.*"):
        left.unlink()
    return folder / "killed"
