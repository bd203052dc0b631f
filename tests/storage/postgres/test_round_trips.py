"""How often one operation waits for the database: each wait is a network away."""

import itertools
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("psycopg", reason="needs the extra `postgres`")

from hydramem import ExtractedChunk, Memory
from hydramem.core.config import Config, EmbeddingConfig, StorageConfig
from hydramem.core.row_types import ChunkKind
from hydramem.memory_api.memory import connect
from hydramem.storage.changes import record
from hydramem.storage.write import Write
from tests.storage import rows
from tests.storage.postgres.round_trips import RoundTrips, traced_connections
from tests.storage.postgres_server import own_schema, server_address


@pytest.fixture
def traced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Memory, RoundTrips]]:
    """Return a memory with some rows, and what counts its round trips."""
    monkeypatch.setenv("HYDRAMEM_STORAGE_URL", server_address())
    (traces := tmp_path / "traces").mkdir()
    with (
        own_schema() as schema,
        traced_connections(traces, monkeypatch) as trips,
        connect(tmp_path / "memory", project="p", config=config_of(schema)) as memory,
    ):
        for number in range(12):  # a statement is prepared, by a round trip of its own, when it repeats
            memory.remember(
                f"Ada keeps parcel {number} in depot {7 * number}, and Bob paints fence {number}."
            )
            memory.recall(f"where is parcel {number}?")
        yield memory, trips


def config_of(schema: str) -> Config:
    return Config(
        storage=StorageConfig(graph="postgres", database_schema=schema),
        embedding=EmbeddingConfig(model="hash"),
    )


def commit_one(memory: Memory, number: int) -> None:
    chunk = rows.chunk(f"c{number}", text=f"Note {number}.", project="p", vector_state="ready")
    write = Write(changes=(record("remember", project="p", target=chunk.id),), chunks=(chunk,))
    memory._opened.mirror.commit(write, {chunk.id: np.ones(memory._opened.vectors.dimension)})


def test_a_commit_with_its_vectors_waits_for_three_answers(traced: tuple[Memory, RoundTrips]) -> None:
    memory, trips = traced
    numbers = itertools.count()
    for _ in range(8):
        commit_one(memory, next(numbers))
    # The lock and the feed; the rows that are there; the rows, their vectors, the commit and the lock's end.
    assert trips.least(lambda: commit_one(memory, next(numbers))) <= 3


def test_a_recall_waits_for_one_answer_and_for_two_more_where_hits_have_links(
    traced: tuple[Memory, RoundTrips],
) -> None:
    memory, trips = traced
    memory.ingest_extracted("herons", [ExtractedChunk(text="Herons nest in reeds.")])
    memory.drain()
    numbers = itertools.count()

    def recall(question: str, kind: ChunkKind) -> None:
        assert memory.recall(f"{question} {next(numbers)}", kinds=[kind]).hits

    # The chunks that it returns, from the graph: what vectors and words find is held in memory.
    assert trips.least(lambda: recall("where do herons nest", "passage")) == 1
    # The links of the memories that it returns; the memories at their other ends.
    assert trips.least(lambda: recall("where is the parcel of Ada, and who paints", "note")) <= 3


def test_a_recall_after_a_write_waits_for_one_more_answer(traced: tuple[Memory, RoundTrips]) -> None:
    memory, trips = traced
    memory.drain()
    numbers = itertools.count()

    def write_and_recall() -> None:
        number = next(numbers)
        commit_one(memory, number)
        found = memory.recall(f"Note {number}.", limit=100).hits
        assert f"c{number}" in [hit.id for hit in found]

    for _ in range(8):
        write_and_recall()
    # What was written since, read at once; the chunks; the links of the memories among them, and their ends.
    assert trips.least(write_and_recall) <= 3 + 5


def test_what_decides_before_it_commits_waits_twice_more(traced: tuple[Memory, RoundTrips]) -> None:
    memory, trips = traced
    numbers = itertools.count()

    def decide_and_commit() -> None:
        with memory._opened.mirror.one_writer.of(["p"]):
            commit_one(memory, next(numbers))

    for _ in range(8):
        decide_and_commit()
    assert trips.least(decide_and_commit) <= 5
