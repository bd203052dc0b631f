"""Bad input at the public surface: a clear error or a report, nothing half written, nothing lost."""

import hashlib
import json
import math
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pytest

import hydramem
from hydramem.core import time
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
from hydramem.llm.hash_embedder import HashEmbedder

ENGINE = os.environ.get("HYDRAMEM_TEST_ENGINE", "ladybug")
ENVIRONMENT = {"HYDRAMEM_STORAGE_GRAPH": ENGINE, "HYDRAMEM_EMBEDDING_MODEL": "hash"}
HOSTILE = [
    "'; MATCH (n) DETACH DELETE n; //",
    "Robert'); DROP TABLE chunks;--",
    '" OR 1=1 --',
    "`backticks` $dollar {brace} \\ back",
    "%_*?[a-z]",
    "naïve Ünïcode Москва 東京 🦀",
]


@pytest.fixture
def settings() -> Config:
    return load_config(environment=ENVIRONMENT)


@pytest.fixture
def memory(tmp_path: Path, settings: Config) -> Iterator[hydramem.Memory]:
    with hydramem.connect(tmp_path / "store", config=settings) as memory:
        yield memory


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
    reasons = ingest_with(memory, docs)
    assert {"empty.txt", "binary.txt", "zero", "pipe.txt", "loop.txt", "gone.txt"} <= reasons.keys()
    assert all(reasons.values())
    assert len(memory.documents()) == 1


def test_a_file_named_by_itself_is_reported_like_one_in_a_folder(memory: hydramem.Memory, docs: Path) -> None:
    os.mkfifo(docs / "pipe.txt")
    done = memory.ingest([str(docs / "pipe.txt"), str(docs / "good.md"), "/dev/zero"])
    assert len(done.skipped) == 2
    assert done.documents == 1


def test_a_missing_source_is_an_error_before_anything_is_written(memory: hydramem.Memory, docs: Path) -> None:
    with pytest.raises(InvalidInputError, match=r"nowhere\.md"):
        memory.ingest([str(docs / "good.md"), str(docs / "nowhere.md")])
    assert memory.documents() == ()


def test_eighty_kilobytes_of_headings(memory: hydramem.Memory, docs: Path) -> None:
    (docs / "headings.md").write_text("".join(f"{'#' * (1 + n % 6)} Heading {n}\n" for n in range(5500)))
    ingest_with(memory, docs)
    assert memory.recall("Heading 77").hits


def test_a_text_over_the_limit_is_skipped(memory: hydramem.Memory, docs: Path) -> None:
    with (docs / "huge.txt").open("wb") as file:
        file.truncate(50 * 2**20)
    assert "MB" in ingest_with(memory, docs)["huge.txt"]


@pytest.mark.slow
@pytest.mark.skipif(ENGINE == "kuzu", reason="Kuzu creates edges singly: the same path, in half an hour")
@pytest.mark.timeout(1500)
def test_a_text_of_fifty_megabytes_within_the_limit(tmp_path: Path, docs: Path) -> None:
    settings = load_config(environment={**ENVIRONMENT, "HYDRAMEM_INGEST_MAX_FILE_MB": "64"})
    line = "The crate number {} of the harbour master rests in hall {} until the spring tide comes. "
    with (docs / "huge.txt").open("w") as file:
        for number in range(560_000):
            file.write(line.format(number, number % 97))
            if number % 50 == 0:
                file.write("\n\n")
    with hydramem.connect(tmp_path / "store", config=settings) as memory:
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


@pytest.mark.parametrize("text", HOSTILE)
def test_cypher_and_sql_are_ordinary_words(memory: hydramem.Memory, text: str) -> None:
    kept = memory.remember("Ada Lovelace leads billing.").id
    id = memory.remember(
        f"{text} is a name", scope="/a", categories=[text], author=text, session=text, source=text
    ).id
    assert id in {hit.id for hit in memory.recall(text, categories=[text], session=text).hits}
    assert [row.id for row in memory.memories(session=text)] == [id]
    memory.entities(containing=text, type=text)
    memory.relations(type=text)
    with pytest.raises(NotFoundError):
        memory.neighbors(text + " nobody")
    with pytest.raises(NotFoundError):
        memory.get(text)
    with pytest.raises(NotFoundError):
        memory.document(text)
    assert memory.recall("x", project="other").hits == ()
    assert memory.get(kept).state == "active"


@pytest.mark.parametrize("limit", [0, -1, 1_000_000_000, 1.5, "3", True, None])
def test_a_limit_out_of_bounds_is_refused(memory: hydramem.Memory, limit: int) -> None:
    for read in (memory.memories, memory.documents, memory.entities, memory.relations, memory.sessions):
        with pytest.raises(InvalidInputError, match="limit"):
            read(limit=limit)
    with pytest.raises(InvalidInputError, match="limit"):
        memory.recall("anything", limit=limit)
    with pytest.raises(InvalidInputError, match="offset"):
        memory.memories(offset=-1)


@pytest.mark.parametrize("query", ["", "   ", "\n\t", "x" * 1_048_576, "a\x00b", "lone \ud800 surrogate"])
def test_a_query_that_cannot_be_asked_is_refused(memory: hydramem.Memory, query: str) -> None:
    with pytest.raises(InvalidInputError, match="query"):
        memory.recall(query)


@pytest.mark.parametrize("text", ["", " \n", "x" * 100_001, "a\x00b", "lone \ud800 surrogate"])
def test_a_text_that_cannot_be_stored_is_refused(memory: hydramem.Memory, text: str) -> None:
    with pytest.raises(InvalidInputError, match="text"):
        memory.remember(text)
    assert memory.memories() == ()


@pytest.mark.parametrize("confidence", [math.nan, math.inf, -0.1, 1.1, 94, "94", None, True])
def test_a_confidence_that_is_no_share_is_refused(memory: hydramem.Memory, confidence: float) -> None:
    with pytest.raises(InvalidInputError, match="confidence"):
        memory.remember("Ada leads billing.", confidence=confidence)
    with pytest.raises(InvalidInputError, match="confidence"):
        memory.ingest_extracted(
            "chat",
            [ExtractedChunk(text="Ada leads billing.")],
            relations=[
                ExtractedRelation(subject="Ada", type="leads", object="billing", confidence=confidence)
            ],
        )
    assert memory.stats().counts.chunks == 0


def test_times_without_a_zone_and_intervals_that_end_first_are_refused(memory: hydramem.Memory) -> None:
    with pytest.raises(InvalidInputError, match="valid_from"):
        memory.remember("x", valid_from=datetime(2024, 5, 1))
    with pytest.raises(InvalidInputError, match="happened_at"):
        memory.remember("x", happened_at="2024-05-01T10:00")
    with pytest.raises(InvalidInputError, match="as_of"):
        memory.recall("x", as_of="someday")
    with pytest.raises(InvalidInputError, match="before it begins"):
        memory.remember("x", valid_from="2024-05-01", valid_to="2023-05-01")
    with pytest.raises(InvalidInputError, match="before it begins"):
        memory.ingest_extracted(
            "chat",
            [ExtractedChunk(text="Ada led billing.")],
            relations=[
                ExtractedRelation(
                    subject="Ada",
                    type="leads",
                    object="billing",
                    valid_from="2024-05-01",
                    valid_to="2023-05-01",
                )
            ],
        )
    assert memory.stats().counts.chunks == 0


def test_a_clock_that_was_set_back_does_not_reorder_writes(tmp_path: Path, settings: Config) -> None:
    ahead = datetime.now(UTC) + timedelta(hours=3)
    with hydramem.connect(tmp_path / "store", config=settings) as memory:
        time.advance_past(ahead)  # as if the first writes had been made with the clock three hours ahead
        first = memory.get(memory.remember("First.").id).times.recorded_at
    with hydramem.connect(tmp_path / "store", config=settings) as memory:
        second = memory.get(memory.remember("Second.").id).times.recorded_at
    assert ahead < first < second


def test_a_relation_of_a_thing_to_itself_is_refused(memory: hydramem.Memory) -> None:
    with pytest.raises(InvalidInputError, match="itself"):
        memory.ingest_extracted(
            "chat",
            [ExtractedChunk(text="Ada is Ada.")],
            relations=[ExtractedRelation(subject="Ada", type="is", object="ADA")],
        )
    assert memory.stats().counts.chunks == 0


class TooShort(HashEmbedder):
    """Promises 384 dimensions and gives 100."""

    def embed_documents(self, texts: "list[str]") -> "np.ndarray":  # type: ignore[override]
        return np.ones((len(texts), 100), dtype=np.float32)


def test_a_vector_of_another_dimension_is_an_error(tmp_path: Path, settings: Config) -> None:
    with (
        hydramem.connect(tmp_path / "store", config=settings, embedder=TooShort(384)) as memory,
        pytest.raises((InvalidInputError, StorageError, EmbeddingMismatchError), match="100"),
    ):
        memory.remember("Ada leads billing.")


def tree(folder: Path) -> dict[str, str]:
    """Return a hash of every file under a folder that a failed opening must leave alone."""
    files = (file for file in folder.rglob("*") if file.is_file() and not file.name.startswith("owner"))
    return {
        str(file.relative_to(folder)): hashlib.sha256(file.read_bytes()).hexdigest() for file in sorted(files)
    }


def filled(folder: Path, settings: Config) -> Path:
    with hydramem.connect(folder, config=settings) as memory:
        for number in range(20):
            memory.remember(f"Crate {number} rests in hall {number}.")
    return folder


def test_a_store_of_a_newer_version_is_left_alone(tmp_path: Path, settings: Config) -> None:
    filled(tmp_path / "store", settings)
    (tmp_path / "store" / "graph" / "engine").write_text(f"{ENGINE} 999\n")
    before = tree(tmp_path / "store")
    with pytest.raises(SchemaError, match="999"):
        hydramem.connect(tmp_path / "store", config=settings)
    assert tree(tmp_path / "store") == before


def test_a_damaged_graph_file_is_a_clear_error_and_left_alone(tmp_path: Path, settings: Config) -> None:
    store = filled(tmp_path / "store", settings)
    (largest,) = sorted((store / "graph").rglob("*.db"), key=lambda file: file.stat().st_size)[-1:]
    largest.write_bytes(b"this is no database" * 1000)
    before = tree(store)
    with pytest.raises(StorageError, match="graph"):
        hydramem.connect(store, config=settings)
    assert tree(store) == before


def test_a_damaged_vectors_folder_is_an_error_until_the_doctor_rebuilds_it(
    tmp_path: Path, settings: Config
) -> None:
    store = filled(tmp_path / "store", settings)
    for file in (store / "vectors").rglob("*"):
        if file.is_file():
            file.write_bytes(b"damaged")
    before = tree(store / "vectors")
    with hydramem.connect(store, config=settings) as memory:
        with pytest.raises(StorageError, match="doctor --fix"):
            memory.recall("crate 7")
        assert not memory.doctor().healthy
        assert tree(store / "vectors") == before
        assert memory.doctor(fix=True).healthy
        assert memory.recall("crate 7").hits
    (aside,) = store.glob("vectors.damaged-*")
    assert tree(aside) == before


def test_a_deleted_vectors_folder_is_an_error_until_the_doctor_rebuilds_it(
    tmp_path: Path, settings: Config
) -> None:
    import shutil

    store = filled(tmp_path / "store", settings)
    shutil.rmtree(store / "vectors")
    with hydramem.connect(store, config=settings) as memory:
        with pytest.raises(StorageError, match="doctor --fix"):
            memory.recall("crate 7")
        fixed = memory.doctor(fix=True)
        assert (fixed.healthy, fixed.missing, fixed.chunks_in_vectors) == (True, 0, 20)
        assert fixed.repaired >= 20
        assert memory.recall("crate 7").hits


@pytest.mark.slow
def test_an_interrupt_in_the_middle_of_ingest_loses_nothing_and_resumes(
    tmp_path: Path, settings: Config
) -> None:
    docs = tmp_path / "docs"
    docs.mkdir()
    for number in range(1500):
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
        env={**os.environ, **ENVIRONMENT, "HYDRAMEM_INGEST_BATCH_CHUNKS": "64"},
    )
    assert worker.stdout is not None
    with worker.stdout:
        for line in worker.stdout:
            if int(line) >= 200:
                worker.send_signal(signal.SIGINT)
                break
        worker.stdout.read()
    assert worker.wait(60) != 0
    with hydramem.connect(tmp_path / "store", config=settings) as memory:
        before = memory.stats().counts.documents
        assert 0 < before < 1500
        assert memory.doctor().problems == ()
        done = memory.ingest([str(docs)])
        assert done.unchanged == before
        assert done.documents == 1500 - before
        assert memory.stats().counts.chunks == memory.stats().counts.documents == 1500


def test_arguments_of_the_wrong_type_are_refused(memory: hydramem.Memory) -> None:
    with pytest.raises(InvalidInputError, match="project"):
        memory.recall("x", project=7)  # type: ignore[arg-type]
    with pytest.raises(InvalidInputError, match="query"):
        memory.recall(json.loads("{}"))
    with pytest.raises(InvalidInputError, match="scope"):
        memory.remember("x", scope="no/slash")
    with pytest.raises(InvalidInputError, match="kind"):
        memory.remember("x", kind="rumour")  # type: ignore[arg-type]
