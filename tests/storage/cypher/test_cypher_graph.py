"""What only a graph on disk can get wrong: opening, damage, versions, limits, forks, handles, a kill."""

import hashlib
import shutil
import subprocess
import sys
import textwrap
from dataclasses import replace
from pathlib import Path

import pytest

from hydramem.core.config import StorageConfig
from hydramem.core.errors import ConfigError, SchemaError, StorageError, StoreBusyError
from hydramem.storage.changes import record
from hydramem.storage.chunk_filter import ChunkFilter
from hydramem.storage.cypher import snapshot_tables
from hydramem.storage.cypher.checkpoints.generations import generations, next_file
from hydramem.storage.cypher.engine import Engine
from hydramem.storage.cypher.graph import open_graph
from hydramem.storage.cypher.schema_statements import MIGRATIONS, graph_file, prepare_schema, stored_version
from hydramem.storage.schema import SCHEMA_VERSION
from hydramem.storage.store import Listing
from hydramem.storage.write import Write
from tests import ROOT
from tests.engines import DISK_ENGINE
from tests.storage.rows import chunk, entity, mention, relation, write
from tests.waiting import wait_for


def files(folder: Path) -> dict[str, str]:
    return {path.name: hashlib.md5(path.read_bytes()).hexdigest() for path in folder.iterdir()}


@pytest.fixture(scope="module")
def closed(tmp_path_factory: pytest.TempPathFactory, settings: StorageConfig) -> Path:
    """A graph's folder with some rows in it."""
    folder = tmp_path_factory.mktemp("closed") / "graph"
    store = open_graph(folder, settings)
    store.write(write(chunks=tuple(chunk(f"c{n}") for n in range(50)), entities=(entity(),)))
    store.checkpoint()
    store.close()
    return folder


@pytest.fixture
def written(closed: Path, tmp_path: Path) -> Path:
    """A copy of it."""
    return Path(shutil.copytree(closed, tmp_path / "graph"))


def test_a_graph_read_in_parts_is_the_whole(written: Path, settings: StorageConfig) -> None:
    store = open_graph(written, settings)
    store.write(write(entities=tuple(entity(f"e{n}", f"name {n}") for n in range(2, 30))))
    relations = tuple(
        relation(f"e{n}", "knows", f"e{n * 7 % 29 + 1}") for n in range(1, 30) if n * 7 % 29 + 1 != n
    )
    hub = tuple(relation("e9", "leads", f"e{n}") for n in range(10, 30))
    store.write(
        write(relations=(*relations, *hub), mentions=tuple(mention(f"c{n}", "e1") for n in range(40)))
    )
    store.close()
    engine = Engine(graph_file(written, settings.graph), settings)
    for table in (snapshot_tables.nodes, snapshot_tables.edges):
        whole, parts = (table(engine, "p", at_once=most).to_pylist() for most in (10_000, 7))
        assert len(whole) == len(parts) > 60
        assert sorted(map(repr, whole)) == sorted(map(repr, parts))
    engine.close()


@pytest.mark.costly  # a large log
def test_a_large_log_is_checkpointed_beside_the_writes(written: Path, settings: StorageConfig) -> None:
    engine = Engine(graph_file(written, settings.graph), settings)
    first = engine.file
    for number in range(18):
        with engine.writing() as query:
            query("MATCH (c:Chunk {id: 'c1'}) SET c.text = $text", {"text": f"{number:02}" * (1 << 20)})
    assert engine.file == first, "the last write waited for a checkpoint"
    wait_for(lambda: engine.file == next_file(first))
    assert engine.database.log_size() < 32 << 20
    with engine.writing() as query:
        query("MATCH (c:Chunk {id: 'c1'}) SET c.text = $text", {"text": "last" * (1 << 20)})
    engine.close()
    (left,) = generations(first)
    assert left == engine.file != next_file(first), "closing did not checkpoint a large log"


def test_a_damaged_file_is_named_and_left_alone(written: Path, settings: StorageConfig) -> None:
    file = graph_file(written, settings.graph)
    whole = file.read_bytes()
    for damaged in (
        b"# Notes\n" * 100,
        b"whatever" + whole[8:],
        whole[: len(whole) // 2],
        whole[:4096] + bytes(byte ^ 0xA5 for byte in whole[4096:]),
        b"",
        None,
    ):
        file.unlink() if damaged is None else file.write_bytes(damaged)
        before = files(written)
        with pytest.raises(StorageError, match=file.name):
            open_graph(written, settings)
        assert files(written) == before


def test_what_another_version_or_engine_wrote_is_refused_untouched(
    written: Path, settings: StorageConfig
) -> None:
    file, other = graph_file(written, settings.graph), "kuzu" if settings.graph == "ladybug" else "ladybug"
    store = open_graph(written, settings)
    store.set_meta({"schema_version": "99"})
    store.close()
    refused(written, settings, SchemaError, "schema version 99, this HydraMem reads up to")
    data = bytearray(file.read_bytes())
    data[4:12] = (999).to_bytes(8, "little")  # both engines: four letters, then the version
    file.write_bytes(data)
    refused(written, settings, SchemaError, "another version of the engine")
    (written / "engine").write_text(f"{other}\n")
    refused(written, settings, StorageError, rf"'{other}'.*storage\.graph: {other}.*dump and load")


def refused(folder: Path, settings: StorageConfig, error: type[StorageError], told: str) -> None:
    before = files(folder)
    with pytest.raises(error, match=told):
        open_graph(folder, settings)
    assert files(folder) == before


def test_a_graph_that_is_not_ours_is_refused(tmp_path: Path, settings: StorageConfig) -> None:
    engine = Engine(tmp_path / "x.db", settings)
    with engine.writing() as query:
        query("CREATE NODE TABLE Person(id STRING, PRIMARY KEY(id))", {})
    with pytest.raises(StorageError, match="not one of HydraMem's"):
        prepare_schema(engine)
    engine.close()


def test_migrations_run_in_order_and_once(written: Path, settings: StorageConfig) -> None:
    steps = (
        ("ALTER TABLE Chunk ADD mood STRING", "MATCH (c:Chunk) SET c.mood = 'calm'"),
        ("MATCH (c:Chunk) SET c.mood = c.mood + '!'",),
    )
    engine = Engine(graph_file(written, settings.graph), settings)
    for _ in range(2):
        prepare_schema(engine, version=SCHEMA_VERSION + 2, migrations=(*MIGRATIONS, *steps))
    assert stored_version(engine) == SCHEMA_VERSION + 2
    with engine.reading() as query:
        assert query("MATCH (c:Chunk) RETURN DISTINCT c.mood", {}) == [["calm!"]]
    engine.close()


def test_a_migration_that_fails_leaves_the_store_as_it_was(written: Path, settings: StorageConfig) -> None:
    steps = (("MATCH (c:Chunk) SET c.text = 'lost'", "MATCH (x:Nothing) RETURN x"),)
    engine = Engine(graph_file(written, settings.graph), settings)
    with pytest.raises(StorageError, match="Nothing"):
        prepare_schema(engine, version=SCHEMA_VERSION + 1, migrations=(*MIGRATIONS, *steps))
    assert stored_version(engine) == SCHEMA_VERSION
    engine.close()
    store = open_graph(written, settings)
    assert {row.text for row in store.list_chunks(ChunkFilter(), Listing(limit=99))} == {chunk().text}
    store.close()


def test_impossible_limits_are_a_config_error(tmp_path: Path, settings: StorageConfig) -> None:
    for key, impossible in (("max_db_gb", 12), ("max_db_gb", 0), ("buffer_pool_mb", 1)):
        with pytest.raises(ConfigError, match=f"storage.{key}"):
            open_graph(tmp_path / "graph", replace(settings, **{key: impossible}))


def test_a_folder_that_cannot_be_made_is_a_storage_error(tmp_path: Path, settings: StorageConfig) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(StorageError, match="file"):
        open_graph(tmp_path / "file" / "graph", settings)


@pytest.mark.costly  # a second process
def test_a_second_handle_here_or_in_another_process_is_refused(
    written: Path, settings: StorageConfig
) -> None:
    store = open_graph(written, settings)
    with pytest.raises(StoreBusyError, match="already open in this process"):
        open_graph(written / ".." / written.name, settings)
    run = _python(f"""
        from hydramem.core.errors import StoreBusyError
        try:
            open_graph(Path({str(written)!r}), settings)
        except StoreBusyError as error:
            print(error)
    """)
    assert "another process holds it" in run
    store.write(write(chunks=(chunk("later"),)))
    store.close()
    again = open_graph(written, settings)
    assert again.chunks(["later"])
    again.close()


@pytest.mark.costly  # a second process
def test_a_fork_is_told_to_connect_again_and_harms_nothing(tmp_path: Path, settings: StorageConfig) -> None:
    run = _python(f"""
        import os, sys
        store = open_graph(Path({str(tmp_path / "graph")!r}), settings)
        store.write(write(chunks=(chunk(),)))
        child = os.fork()
        if child == 0:
            try:
                store.chunks(["c1"])
            except StorageError as error:
                print(error, flush=True)
            store.close()
            del store
            sys.exit(0)
        print(os.waitpid(child, 0)[1])
        store.write(write(chunks=(chunk("c2"),)))
        store.close()
    """)
    assert "connect again in the child" in run
    assert run.split()[-1] == "0"
    store = open_graph(tmp_path / "graph", settings)
    assert len(store.chunks(["c1", "c2"])) == 2
    store.close()


def test_an_error_inside_a_write_rolls_all_of_it_back(written: Path, settings: StorageConfig) -> None:
    engine = Engine(graph_file(written, settings.graph), settings)
    with pytest.raises(StorageError, match="Nowhere"), engine.writing() as query:
        query("MATCH (c:Chunk) SET c.text = 'lost'", {})
        query("MATCH (x:Nowhere) RETURN x", {})
    with pytest.raises(ZeroDivisionError), engine.writing() as query:
        query("MATCH (c:Chunk) SET c.text = 'lost'", {})
        raise ZeroDivisionError
    with engine.reading() as query:
        assert query("MATCH (c:Chunk {text: 'lost'}) RETURN count(*)", {}) == [[0]]
    engine.close()


def _command(script: str) -> list[str]:
    opening = f"""
        from pathlib import Path
        from hydramem.core.config import StorageConfig
        from hydramem.core.errors import StorageError
        from hydramem.storage.cypher import open_graph
        from tests.storage.rows import chunk, document, entity, mention, write
        settings = StorageConfig(
            graph={DISK_ENGINE!r}, buffer_pool_mb=128, max_db_gb=8
        )
    """
    return [sys.executable, "-c", textwrap.dedent(opening) + textwrap.dedent(script)]


def _python(script: str) -> str:
    run = subprocess.run(_command(script), capture_output=True, text=True, cwd=ROOT, timeout=60)
    assert run.returncode == 0, run.stderr
    return run.stdout


@pytest.mark.skipif(DISK_ENGINE != "ladybug", reason="measured on LadybugDB")
@pytest.mark.costly
def test_many_changes_take_little_beside_their_words(tmp_path: Path, settings: StorageConfig) -> None:
    store = open_graph(tmp_path / "graph", settings)
    store.write(Write(changes=tuple(record("note", project="p", target="c1") for _ in range(1500))))
    store.checkpoint()
    store.close()
    # With keys too long to lie within the index, it has a page more for each of its 256 parts.
    assert graph_file(tmp_path / "graph", settings.graph).stat().st_size < 3_000_000
