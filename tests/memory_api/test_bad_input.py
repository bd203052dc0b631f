"""Bad input at the public surface: a clear error or a report, nothing half written, nothing lost."""

import hashlib
import json
import math
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

import numpy as np
import pytest

import hydramem
from hydramem.core.config import Config
from hydramem.core.errors import (
    EmbeddingMismatchError,
    InvalidInputError,
    NotFoundError,
    SchemaError,
    StorageError,
)
from hydramem.core.settings.config_loading import load_config
from hydramem.ingest.documents.ingest_extracted import ExtractedChunk, ExtractedRelation
from hydramem.ingest.memories.memory_input import MemoryInput
from hydramem.llm.hash_embedder import HashEmbedder
from tests.engines import DISK_ENGINE, ENGINE

ON_DISK = {"HYDRAMEM_STORAGE_GRAPH": DISK_ENGINE, "HYDRAMEM_EMBEDDING_MODEL": "hash"}


def settings(engine: str, **more: str) -> Config:
    return load_config(environment={**ON_DISK, "HYDRAMEM_STORAGE_GRAPH": engine, **more})


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[hydramem.Memory]:
    with hydramem.connect(tmp_path / "store", config=settings(ENGINE)) as memory:
        yield memory


@pytest.fixture(scope="module")
def empty(tmp_path_factory: pytest.TempPathFactory) -> Iterator[hydramem.Memory]:
    """A memory whose every call is refused: it is empty in the end."""
    with hydramem.connect(tmp_path_factory.mktemp("empty"), config=settings(ENGINE)) as memory:
        yield memory
        assert memory.stats().counts.changes == memory.stats().counts.chunks == 0


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    folder = tmp_path / "docs"
    folder.mkdir()
    (folder / "good.md").write_text("# Good\n\nAda Lovelace leads the Billing Service.\n")
    return folder


def ingest_with(memory: hydramem.Memory, docs: Path) -> dict[str, str]:
    """Ingest the folder, check that the good file got in, and return why each other one did not."""
    done = memory.ingest([str(docs)])
    assert memory.recall("Ada Lovelace").hits, "one bad file stopped the good one"
    return {Path(skipped.source).name: skipped.reason for skipped in done.skipped}


def test_files_that_are_no_text_are_skipped_and_reported(memory: hydramem.Memory, docs: Path) -> None:
    (docs / "empty.txt").write_text("")
    (docs / "binary.txt").write_bytes(bytes(range(256)) * 40)
    (docs / "zero.txt").symlink_to("/dev/zero")
    os.mkfifo(docs / "pipe.txt")
    (docs / "loop.txt").symlink_to(docs / "loop.txt")
    (docs / "circle").symlink_to(docs)
    (docs / "gone.txt").symlink_to(docs / "nowhere.txt")
    with (docs / "huge.txt").open("wb") as file:
        file.truncate(50 * 2**20)
    reasons = ingest_with(memory, docs)
    assert {"empty.txt", "binary.txt", "zero", "pipe.txt", "loop.txt", "gone.txt"} <= reasons.keys()
    assert all(reasons.values()) and "MB" in reasons["huge.txt"]
    assert len(memory.documents()) == 1
    named = memory.ingest([str(docs / "pipe.txt"), "/dev/zero"])
    assert len(named.skipped) == 2, "one that is named by itself is reported like one in a folder"


def test_a_missing_source_is_an_error_before_anything_is_written(memory: hydramem.Memory, docs: Path) -> None:
    with pytest.raises(InvalidInputError, match=r"nowhere\.md"):
        memory.ingest([str(docs / "good.md"), str(docs / "nowhere.md")])
    assert memory.documents() == ()


def test_thousands_of_headings(memory: hydramem.Memory, docs: Path) -> None:
    (docs / "headings.md").write_text("".join(f"{'#' * (1 + n % 6)} Heading {n}\n" for n in range(2500)))
    ingest_with(memory, docs)
    assert memory.recall("Heading 77").hits


@pytest.mark.slow
@pytest.mark.timeout(1500)
def test_a_text_of_fifty_megabytes_within_the_limit(tmp_path: Path, docs: Path) -> None:
    line = "The crate number {} of the harbour master rests in hall {} until the spring tide comes. "
    with (docs / "huge.txt").open("w") as file:
        for number in range(560_000):
            file.write(line.format(number, number % 97))
            if number % 50 == 0:
                file.write("\n\n")
    large = settings(ENGINE, HYDRAMEM_INGEST_MAX_FILE_MB="64")
    with hydramem.connect(tmp_path / "store", config=large) as memory:
        assert ingest_with(memory, docs) == {}
        assert memory.stats().counts.chunks > 10_000


def test_json_nested_ten_thousand_deep(memory: hydramem.Memory, docs: Path) -> None:
    (docs / "deep.json").write_text("[" * 10_000 + "]" * 10_000)
    (docs / "deep.jsonl").write_text('{"role": "user", "content": ' + "[" * 10_000 + "]" * 10_000 + "}\n")
    ingest_with(memory, docs)


def test_mixed_encodings_nul_and_surrogates_are_read(memory: hydramem.Memory, docs: Path) -> None:
    (docs / "latin.txt").write_bytes("Der Schlüssel liegt in Zürich bei der Königin. ".encode("latin-1") * 20)
    (docs / "utf16.txt").write_text("The beacon stands at Reykjavik harbour.", encoding="utf-16")
    (docs / "mixed.txt").write_bytes("Grüße aus Köln. ".encode() * 20 + "Grüße aus Bonn.".encode("latin-1"))
    (docs / "nul.txt").write_bytes(b"The walrus\x00 sleeps in Tromso tonight and every night.\n" * 3)
    (docs / "surrogate.json").write_text('[{"role": "user", "content": "the lone \\ud800 penguin speaks"}]')
    assert ingest_with(memory, docs) == {}
    for words in ("Zürich Königin", "beacon Reykjavik", "walrus Tromso", "penguin"):
        assert memory.recall(words, limit=3).hits, words


@pytest.mark.engine
@pytest.mark.costly  # the languages that these words could break are those of the engine and of the vectors
def test_cypher_and_sql_are_ordinary_words(tmp_path: Path) -> None:
    with hydramem.connect(tmp_path, config=settings(DISK_ENGINE)) as memory:
        kept = memory.remember("Ada Lovelace leads billing.").id
        for text in (
            "'; MATCH (n) DETACH DELETE n; // Robert'); DROP TABLE chunks;--",
            '" OR 1=1 -- `backticks` $dollar {brace} \\ back %_*?[a-z]',
            "naïve Ünïcode Москва 東京 🦀",
        ):
            id = memory.remember(
                f"{text} is a name", scope="/a", categories=[text], author=text, session=text, source=text
            ).id
            assert id in {hit.id for hit in memory.recall(text, categories=[text], session=text).hits}
            assert [row.id for row in memory.memories(session=text)] == [id]
            memory.entities(containing=text, type=text)
            memory.relations(type=text)
            for missing in (memory.neighbors, memory.get, memory.document):
                with pytest.raises(NotFoundError):
                    missing(f"{text} nobody")
        assert memory.recall("x", project="other").hits == ()
        assert memory.get(kept).state == "active" and len(memory.memories()) == 4


def test_a_limit_out_of_bounds_is_refused(empty: hydramem.Memory) -> None:
    reads = (empty.memories, empty.documents, empty.entities, empty.relations, empty.sessions)
    for limit in (0, -1, 1_000_000_000, 1.5, "3", True, None):
        for read in reads:
            with pytest.raises(InvalidInputError, match="limit"):
                read(limit=limit)
        with pytest.raises(InvalidInputError, match="limit"):
            empty.recall("anything", limit=limit)
    with pytest.raises(InvalidInputError, match="offset"):
        empty.memories(offset=-1)


def test_a_text_that_cannot_be_asked_or_stored_is_refused(empty: hydramem.Memory) -> None:
    for text in ("", " \n\t", "x" * 1_048_576, "a\x00b", "lone \ud800 surrogate"):
        with pytest.raises(InvalidInputError, match="query"):
            empty.recall(text)
        with pytest.raises(InvalidInputError, match="text"):
            empty.remember(text)
    with pytest.raises(InvalidInputError, match="text"):
        empty.remember("x" * 100_001)


def extracted(memory: hydramem.Memory, **relation: object) -> None:
    """Hand over a relation that was found elsewhere."""
    given = {"subject": "Ada", "type": "leads", "object": "billing", **relation}
    memory.ingest_extracted(
        "chat",
        [ExtractedChunk(text="Ada leads billing.")],
        relations=[ExtractedRelation(**given)],  # type: ignore[arg-type]
    )


def test_a_confidence_that_is_no_share_is_refused(empty: hydramem.Memory) -> None:
    for confidence in (math.nan, math.inf, -0.1, 94, "94", None, True):
        with pytest.raises(InvalidInputError, match="confidence"):
            empty.remember("Ada leads billing.", confidence=confidence)  # type: ignore[arg-type]
        with pytest.raises(InvalidInputError, match="confidence"):
            extracted(empty, confidence=confidence)


def test_times_without_a_zone_and_intervals_that_end_first_are_refused(empty: hydramem.Memory) -> None:
    with pytest.raises(InvalidInputError, match="valid_from"):
        empty.remember("x", valid_from=datetime(2024, 5, 1))
    with pytest.raises(InvalidInputError, match="happened_at"):
        empty.remember("x", happened_at="2024-05-01T10:00")
    with pytest.raises(InvalidInputError, match="as_of"):
        empty.recall("x", as_of="someday")
    with pytest.raises(InvalidInputError, match="before it begins"):
        empty.remember("x", valid_from="2024-05-01", valid_to="2023-05-01")
    with pytest.raises(InvalidInputError, match="before it begins"):
        extracted(empty, valid_from="2024-05-01", valid_to="2023-05-01")


def test_a_relation_of_a_thing_to_itself_is_refused(empty: hydramem.Memory) -> None:
    with pytest.raises(InvalidInputError, match="itself"):
        extracted(empty, type="is", object="ADA")


def test_arguments_of_the_wrong_type_are_refused(empty: hydramem.Memory) -> None:
    with pytest.raises(InvalidInputError, match="project"):
        empty.recall("x", project=7)  # type: ignore[arg-type]
    with pytest.raises(InvalidInputError, match="query"):
        empty.recall(json.loads("{}"))
    with pytest.raises(InvalidInputError, match="scope"):
        empty.remember("x", scope="no/slash")
    with pytest.raises(InvalidInputError, match="kind"):
        empty.remember("x", kind="rumour")  # type: ignore[arg-type]


class TooShort(HashEmbedder):
    """Promises 384 dimensions and gives 100."""

    def embed_documents(self, texts: "list[str]") -> "np.ndarray":  # type: ignore[override]
        return np.ones((len(texts), 100), dtype=np.float32)


@pytest.mark.costly  # whose files of vectors have a dimension
def test_a_vector_of_another_dimension_is_an_error(tmp_path: Path) -> None:
    with (
        hydramem.connect(tmp_path, config=settings(DISK_ENGINE), embedder=TooShort(384)) as memory,
        pytest.raises((InvalidInputError, StorageError, EmbeddingMismatchError), match="100"),
    ):
        memory.remember("Ada leads billing.")


def tree(folder: Path) -> dict[str, str]:
    """Return a hash of every file under a folder that a failed opening must leave alone."""
    files = (file for file in folder.rglob("*") if file.is_file() and not file.name.startswith("owner"))
    return {
        str(file.relative_to(folder)): hashlib.sha256(file.read_bytes()).hexdigest() for file in sorted(files)
    }


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("filled") / "store"
    with hydramem.connect(folder, config=settings(DISK_ENGINE)) as memory:
        memory.remember_many([MemoryInput(text=f"Crate {n} rests in hall {n}.") for n in range(20)])
    return folder


@pytest.fixture
def store(filled: Path, tmp_path: Path) -> Path:
    """A store of twenty memories, to be damaged."""
    return Path(shutil.copytree(filled, tmp_path / "store"))


def test_a_store_of_a_newer_version_is_left_alone(store: Path) -> None:
    (store / "graph" / "engine").write_text(f"{DISK_ENGINE} 999\n")
    before = tree(store)
    with pytest.raises(SchemaError, match="999"):
        hydramem.connect(store, config=settings(DISK_ENGINE))
    assert tree(store) == before


def test_a_damaged_graph_file_is_a_clear_error_and_left_alone(store: Path) -> None:
    (largest,) = sorted((store / "graph").rglob("*.db"), key=lambda file: file.stat().st_size)[-1:]
    largest.write_bytes(b"this is no database" * 1000)
    before = tree(store)
    with pytest.raises(StorageError, match="graph"):
        hydramem.connect(store, config=settings(DISK_ENGINE))
    assert tree(store) == before


@pytest.mark.costly  # damage of the files of a real store
@pytest.mark.parametrize("damage", ["overwritten", "deleted"])
def test_a_damaged_vectors_folder_is_an_error_until_the_doctor_rebuilds_it(store: Path, damage: str) -> None:
    if damage == "deleted":
        shutil.rmtree(store / "vectors")
    else:
        for file in (store / "vectors").rglob("*"):
            if file.is_file():
                file.write_bytes(b"damaged")
    before = tree(store / "vectors")
    with hydramem.connect(store, config=settings(DISK_ENGINE)) as memory:
        with pytest.raises(StorageError, match="doctor --fix"):
            memory.recall("crate 7")
        if damage == "overwritten":
            assert not memory.doctor().healthy and tree(store / "vectors") == before
        fixed = memory.doctor(fix=True)
        assert (fixed.healthy, fixed.missing, fixed.chunks_in_vectors) == (True, 0, 20)
        assert fixed.repaired >= 20
        assert memory.recall("crate 7").hits
    aside = [tree(folder) for folder in store.glob("vectors.damaged-*")]
    assert aside == ([before] if damage == "overwritten" else [])


@pytest.mark.slow
def test_an_interrupt_in_the_middle_of_ingest_loses_nothing_and_resumes(tmp_path: Path) -> None:
    docs = tmp_path / "docs"
    docs.mkdir()
    for number in range(600):
        (docs / f"file{number}.md").write_text(f"# File {number}\n\nCrate {number} rests in hall {number}.\n")
    code = (
        "import sys, hydramem\n"
        "with hydramem.connect(sys.argv[1]) as memory:\n"
        "    memory.ingest([sys.argv[2]], progress=lambda p: print(p.done, flush=True))\n"
    )
    worker = subprocess.Popen(
        [sys.executable, "-c", code, str(tmp_path / "store"), str(docs)],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env={**os.environ, **ON_DISK, "HYDRAMEM_INGEST_BATCH_CHUNKS": "64"},
    )
    assert worker.stdout is not None
    with worker.stdout:
        for line in worker.stdout:
            if int(line) >= 200:
                worker.send_signal(signal.SIGINT)
                break
        worker.stdout.read()
    assert worker.wait(60) != 0
    with hydramem.connect(tmp_path / "store", config=settings(DISK_ENGINE)) as memory:
        before = memory.stats().counts.documents
        assert 0 < before < 600
        assert memory.doctor().problems == ()
        done = memory.ingest([str(docs)])
        assert (done.unchanged, done.documents) == (before, 600 - before)
        assert memory.stats().counts.chunks == memory.stats().counts.documents == 600
