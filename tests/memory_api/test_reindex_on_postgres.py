"""A change of the embedder on PostgreSQL beside other nodes, which write, read and notice it."""

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from datetime import timedelta
from pathlib import Path

import pytest

pytest.importorskip("psycopg", reason="needs the extra `postgres`")

import hydramem
from hydramem.core.config import Config, EmbeddingConfig, StorageConfig
from hydramem.core.errors import EmbeddingMismatchError, StorageError, StoreBusyError
from hydramem.llm.hash_embedder import HashEmbedder
from hydramem.memory_api.memory import connect
from hydramem.storage.postgres.connection import Database
from hydramem.storage.postgres.vectors.spaces import space_names
from hydramem.storage.vector_rows import Vector
from hydramem.storage.write import Write
from tests import ROOT
from tests.memory_api.crates import fill, finds
from tests.storage.postgres_server import own_schema, server_address
from tests.waiting import wait_for

ROWS = 300


@pytest.fixture
def schema(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    monkeypatch.setenv("HYDRAMEM_STORAGE_URL", server_address())
    with own_schema() as name:
        yield name


def opened(folder: Path, schema: str, model: str = "auto") -> hydramem.Memory:
    storage = StorageConfig(graph="postgres", database_schema=schema)
    return connect(
        folder, project="p", config=Config(storage=storage, embedding=EmbeddingConfig(model=model))
    )


class Waiting(HashEmbedder):
    """Embeds, and calls something before the batch of a certain number."""

    def __init__(self, batch: int, act: Callable[[], object]) -> None:
        super().__init__(64)
        self._batch, self._act = batch, act

    def embed_documents(self, texts: Sequence[str]) -> Vector:
        self._batch -= 1
        if self._batch == 0:
            self._act()
        return super().embed_documents(texts)


def test_what_others_write_meanwhile_is_in_the_new_vectors(tmp_path: Path, schema: str) -> None:
    with (
        opened(tmp_path / "one", schema, "hash") as one,
        opened(tmp_path / "two", schema) as two,
        opened(tmp_path / "bound", schema, "hash") as bound,
    ):
        fill(one, ROWS)
        removed = two.remember("A note that is forgotten meanwhile.").id
        later: list[str] = []

        def write() -> None:
            fill(two, ROWS + 50)  # the ids of so many rows are in the feed
            later.append(two.remember("The late note tells of the kraken.").id)
            two.forget([removed])
            assert finds(two, ROWS + 20), "the old vectors serve"

        one._opened.reindex(Waiting(4, write), progress=None)
        assert one.doctor().healthy
        assert one.recall("what tells of the kraken?").hits[0].id == later[0]
        assert finds(one, ROWS + 20)
        # Without a restart, also where nothing is written.
        for each in (one, two):
            assert each.stats().embedder == "hash/64" and finds(each, ROWS + 30)
        assert two.doctor().healthy
        # Who may use no other embedder is told, and writes nothing more.
        for refused in (lambda: bound.remember("It comes too late."), lambda: finds(bound, 1)):
            with pytest.raises(EmbeddingMismatchError):
                refused()
    with pytest.raises(EmbeddingMismatchError):
        opened(tmp_path / "bound", schema, "hash")


def test_of_what_others_write_all_the_while_nothing_is_lost(tmp_path: Path, schema: str) -> None:
    with opened(tmp_path / "one", schema, "hash") as one, opened(tmp_path / "two", schema) as two:
        fill(one, ROWS)
        stop, written = threading.Event(), list[str]()

        def write() -> None:
            while not stop.is_set():
                written.append(two.remember(f"Note {len(written)} tells of hall kappa{len(written)}.").id)

        with ThreadPoolExecutor(1) as pool:
            writing = pool.submit(write)
            try:
                wait_for(lambda: written)
                one.reindex("hash/64")
                switched = len(written)
                wait_for(lambda: len(written) > switched + 1)
            finally:
                stop.set()
            writing.result()
        one.drain()
        assert set(one._opened.vectors.vectors(written)) == set(written)
        assert one.doctor().healthy and two.doctor().healthy


def test_vectors_that_are_made_later_reach_the_new_ones_too(tmp_path: Path, schema: str) -> None:
    with opened(tmp_path / "one", schema, "hash") as one, opened(tmp_path / "two", schema) as two:
        fill(one, 100)
        for each in (one, two):
            each._opened.jobs.stop()
        late = two.remember("The slow note tells of the basilisk.", wait=False).id

        def embed() -> None:
            (row,) = two._opened.graph.chunks([late])
            assert row.vector_state == "pending"
            vectors = two._opened.mirror.embed_by_id({late: row.text})
            two._opened.mirror.commit(Write(changes=(), embedded=(late,)), vectors)

        one._opened.reindex(Waiting(2, embed), progress=None)
        assert set(one._opened.vectors.vectors([late])) == {late}


def test_rows_that_are_too_many_to_name_are_compared(
    tmp_path: Path, schema: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hydramem.storage.postgres.feed._MOST_KEYS", 10)
    with opened(tmp_path / "one", schema, "hash") as one, opened(tmp_path / "two", schema) as two:
        fill(one, 100)
        one._opened.reindex(Waiting(2, lambda: fill(two, 200)), progress=None)
        assert one._opened.vectors.stats().chunks == 200
        assert one.doctor().healthy and finds(one, 150)


def test_one_process_at_a_time_changes_the_vectors(tmp_path: Path, schema: str) -> None:
    opened(tmp_path / "one", schema, "hash").close()
    with opened(tmp_path / "one", schema) as one, opened(tmp_path / "two", schema) as two:
        fill(one, 100)
        refused: list[str] = []

        def another() -> None:
            with pytest.raises(StoreBusyError, match="another machine"):
                two.reindex("hash/32")
            with opened(tmp_path / "three", schema) as three:  # which tidies up as it opens
                refused.append(three.stats().embedder)

        one._opened.reindex(Waiting(2, another), progress=None)
        assert refused == ["hash/384"] and one.doctor().healthy
        assert two.reindex("hash/32").changed
        assert finds(one, 13) and one.stats().embedder == "hash/32"


def test_a_reindex_that_another_process_ended_switches_nothing(tmp_path: Path, schema: str) -> None:
    with opened(tmp_path / "one", schema, "hash") as one:
        fill(one, 100)
        ended = Waiting(2, lambda: one._opened.graph.set_meta({"reindex": ""}))
        with pytest.raises(StorageError, match="another process"):
            one._opened.reindex(ended, progress=None)
        assert one.stats().embedder == "hash/384" and finds(one, 13)


def test_vectors_that_others_may_read_stay_for_a_while(
    tmp_path: Path, schema: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with opened(tmp_path / "one", schema, "hash") as one:
        fill(one, 20)
        one.reindex("hash/64")
    with closing(Database(server_address(), schema=schema)) as database:
        opened(tmp_path / "two", schema).close()
        assert len(space_names(database, "vectors")) == 2
        monkeypatch.setattr("hydramem.memory_api.open.vector_tables._READ_AFTER_SWITCH", timedelta(days=-1))
        opened(tmp_path / "two", schema).close()
        assert len(space_names(database, "vectors")) == 1


@pytest.mark.slow
@pytest.mark.alone
@pytest.mark.timeout(240)
def test_a_killed_reindex_leaves_the_old_vectors_and_another_node_goes_on(
    tmp_path: Path, schema: str
) -> None:
    with opened(tmp_path / "one", schema, "hash") as one:
        fill(one, ROWS)
        stored = {"HYDRAMEM_STORAGE_GRAPH": "postgres", "HYDRAMEM_STORAGE_DATABASE_SCHEMA": schema}
        command = [sys.executable, "-m", "tests.memory_api.reindex_child", str(tmp_path / "two"), "half"]
        child = subprocess.run(command, env=os.environ | stored, cwd=ROOT, check=False)
        assert child.returncode == -signal.SIGKILL
        fill(one, ROWS + 20)
        assert finds(one, ROWS + 10) and one.doctor().unfinished_reindex == "hash/64"
        done = one.reindex("hash/64")
        assert done.changed and done.resumed > 0
        assert finds(one, ROWS + 10) and one.doctor().healthy
