"""Memories of crates, for tests that move them to other vectors."""

import hydramem
from hydramem.core.inputs import ExtractedChunk


def fill(memory: hydramem.Memory, rows: int) -> None:
    texts = [f"Crate zeta{number} rests in hall {number % 7}." for number in range(rows)]
    memory.ingest_extracted("crates", [ExtractedChunk(text=text) for text in texts])


def finds(memory: hydramem.Memory, number: int) -> bool:
    found = memory.recall(f"where does crate zeta{number} rest?", limit=5).hits
    return any(f"zeta{number} " in hit.text for hit in found)
