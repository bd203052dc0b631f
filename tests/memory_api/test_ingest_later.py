"""`ingest(wait=False)`: read, stored and found by its words at once; vectors and a model's reading follow."""

from collections.abc import Iterator
from pathlib import Path

import pytest

import hydramem
from hydramem.core.config import Config
from hydramem.core.row_types import Chunk
from hydramem.core.settings.config_loading import load_config
from hydramem.ingest.extraction.extraction_prompt import ExtractionReply
from hydramem.llm.scripted_generator import ScriptedGenerator, ScriptedPrompt
from tests.engines import DISK_ENGINE, ENGINE
from tests.memory_api.test_remember_later import Flaky

TEXT = "# Crates\n\nAda works at Acme.\n\n## Halls\n\nCrate 12 is in hall 3. Bob moved it there.\n"


@pytest.fixture
def config(request: pytest.FixtureRequest) -> Config:
    engine = getattr(request, "param", ENGINE)
    return load_config(environment={"HYDRAMEM_STORAGE_GRAPH": engine, "HYDRAMEM_INGEST_CHUNK_TOKENS": "40"})


@pytest.fixture
def embedder() -> Flaky:
    return Flaky(64)


@pytest.fixture
def memory(tmp_path: Path, embedder: Flaky, config: Config) -> Iterator[hydramem.Memory]:
    with hydramem.connect(tmp_path / "store", embedder=embedder, config=config) as opened:
        yield opened


def write(folder: Path, text: str = TEXT, name: str = "crates.md") -> str:
    path = folder / name
    path.write_text(text)
    return str(path)


def chunks(memory: hydramem.Memory) -> list[Chunk]:
    return [row for one in memory.documents() for row in memory.document(one.id).chunks]


def test_a_document_is_found_by_its_words_before_it_has_vectors(
    memory: hydramem.Memory, embedder: Flaky, tmp_path: Path
) -> None:
    embedder.down = True
    done = memory.ingest([write(tmp_path)], wait=False)
    assert (done.documents, done.pending) == (1, ("embed",))
    assert {row.vector_state for row in chunks(memory)} == {"pending"}
    embedder.down = False
    assert "hall 3" in memory.recall("Where is crate 12?").hits[0].text
    assert memory.drain().left == 0
    assert {row.vector_state for row in chunks(memory)} == {"ready"}
    assert memory.doctor().problems == ()


def test_it_comes_to_the_same_as_waiting(tmp_path: Path, embedder: Flaky, config: Config) -> None:
    source = write(tmp_path)
    found = []
    for name, wait in (("waits", True), ("soon", False)):
        with hydramem.connect(tmp_path / name, embedder=embedder, config=config) as memory:
            memory.ingest([source], wait=wait)
            memory.drain()
            held = memory._opened.vectors.vectors([row.id for row in chunks(memory)])
            entities = {row.name: row.mention_count for row in memory.entities()}
            found.append(({id: vector.tolist() for id, vector in held.items()}, entities))
    assert found[0] == found[1]


@pytest.mark.slow
@pytest.mark.parametrize("config", [DISK_ENGINE], indirect=True)
def test_a_large_document_is_stored_whole(memory: hydramem.Memory, tmp_path: Path) -> None:
    text = "\n\n".join(f"## Part {n}\n\nCrate {n} is in hall {n % 7}, says Ada." for n in range(1300))
    done = memory.ingest([write(tmp_path, text)], wait=False)
    assert done.chunks >= 1300
    assert memory.drain().left == 0
    assert {row.vector_state for row in chunks(memory)} == {"ready"}
    assert memory.doctor().problems == ()


@pytest.mark.engine
@pytest.mark.costly
@pytest.mark.parametrize("config", [DISK_ENGINE], indirect=True)
def test_an_edited_document_has_its_new_text_embedded(memory: hydramem.Memory, tmp_path: Path) -> None:
    memory.ingest([write(tmp_path)], wait=False)
    memory.ingest([write(tmp_path, TEXT.replace("hall 3", "hall 4"))], wait=False)
    memory.drain()
    assert "hall 4" in memory.recall("Where is crate 12?").hits[0].text
    assert {row.vector_state for row in chunks(memory)} == {"ready"}
    assert memory.doctor().problems == ()


def answer(prompt: ScriptedPrompt) -> object:
    if prompt.shape is not ExtractionReply:
        return {}
    return {"chunks": [{"number": 1, "entities": [{"name": "Zeta Depot", "type": "place"}]}]}


def test_a_model_reads_it_later(tmp_path: Path, embedder: Flaky, config: Config) -> None:
    generator = ScriptedGenerator(answer)
    with hydramem.connect(tmp_path / "read", embedder=embedder, config=config, generator=generator) as memory:
        done = memory.ingest([write(tmp_path)], wait=False)
        assert done.pending == ("embed", "extract")
        memory.drain()
        names = {row.name: row.mention_count for row in memory.entities()}
        assert names["Zeta Depot"] == 1
        assert names["Ada"] == 1
        before = generator.usage
        again = memory.ingest([write(tmp_path, TEXT, "again.md")])
        assert again.usage.calls > 0
        assert again.usage + again.verification.usage == generator.usage.since(before), "what it cost is told"
