"""A run of the gardener begins with a checkpoint where the graph's log is long."""

from pathlib import Path

import pytest

import hydramem
from hydramem.core.errors import StorageError
from hydramem.llm.hash_embedder import HashEmbedder
from hydramem.memory_api.memory import Memory
from hydramem.memory_api.methods import garden_methods
from hydramem.storage.cypher.checkpoints import checkpoint


def generation(memory: Memory) -> Path:
    return memory._opened.graph._engine.file


def refuse(file: Path) -> None:
    raise StorageError(f"{file}: no pointer today")


@pytest.mark.costly  # only an engine on disk has a log
def test_a_long_log_is_written_into_the_file_before_a_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with hydramem.connect(tmp_path / "store", embedder=HashEmbedder()) as memory:
        memory.remember("Ada lives in Berlin.")
        before = generation(memory)
        memory.garden(phases=["review"])
        assert generation(memory) == before
        monkeypatch.setattr(garden_methods, "_MOST_LOG_BYTES", 1)
        memory.garden(plan=True, phases=["review"])
        assert generation(memory) == before
        memory.garden(phases=["review"])
        assert (served := generation(memory)) != before
        assert [row.text for row in memory.recall("Where does Ada live?").hits] == ["Ada lives in Berlin."]
        monkeypatch.setattr(checkpoint, "serve", refuse)
        [report] = memory.garden(phases=["review"])
        assert report.state == "completed", "a run goes on where its checkpoint fails"
        assert generation(memory) == served
