"""A memory whose graph and vectors are on PostgreSQL, opened like any other; its folder keeps the rest."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

pytest.importorskip("psycopg", reason="needs the extra `postgres`")

from hydramem import ConfigError, InvalidInputError, Memory, StorageError
from hydramem.core.config import Config, EmbeddingConfig, StorageConfig
from hydramem.core.project_bounds import bounded_to
from hydramem.memory_api.memory import connect
from hydramem.storage.postgres.connection import Database
from hydramem.storage.schema import CHUNK
from tests.storage.postgres_server import new_schema, own_schema, server_address

SECRET = "hm-s3cret"  # the server trusts every local user, so it takes any password


def address() -> str:
    return f"{server_address()}&password={SECRET}"


@pytest.fixture
def config(monkeypatch: pytest.MonkeyPatch) -> Iterator[Config]:
    monkeypatch.setenv("HYDRAMEM_STORAGE_URL", address())
    with own_schema() as schema:
        yield Config(
            storage=StorageConfig(graph="postgres", database_schema=schema),
            embedding=EmbeddingConfig(model="hash"),
        )


def open_in(folder: Path, config: Config) -> Memory:
    return connect(folder, project="p", config=config)


def execute(config: Config, statement: str) -> list[tuple[object, ...]]:
    database = Database(server_address(), schema=config.storage.database_schema, most_connections=1)
    with database.transaction() as connection:
        cursor = connection.execute(statement.encode())
        rows = cursor.fetchall() if cursor.description else []
    database.close()
    return rows


def test_what_is_remembered_is_found_also_from_another_folder(tmp_path: Path, config: Config) -> None:
    with open_in(tmp_path / "one", config) as memory:
        kept = memory.remember("Ada keeps the parcel in depot 49.")
        assert memory.recall("where is the parcel?").hits[0].id == kept.id
    with open_in(tmp_path / "two", config) as memory:
        assert memory.recall("where is the parcel?").hits[0].id == kept.id
        memory.forget([kept.id])
        assert memory.recall("where is the parcel?").hits == ()
        assert memory.doctor().healthy
    with open_in(tmp_path / "one", config) as memory:
        (forgot,) = [entry.run for entry in memory.history(kept.id).entries if entry.operation == "forget"]
        memory.undo(str(forgot))
        assert memory.recall("where is the parcel?").hits[0].id == kept.id


def test_vectors_are_committed_with_the_graph_and_leave_no_outbox(tmp_path: Path, config: Config) -> None:
    with open_in(tmp_path, config) as memory:
        memory.remember("Ada keeps the parcel in depot 49.")
        assert execute(config, "SELECT * FROM outbox") == []
        assert len(execute(config, "SELECT * FROM vectors_chunks")) == 1


def test_vectors_that_fail_leave_the_write_and_are_made_later(tmp_path: Path, config: Config) -> None:
    with open_in(tmp_path, config) as memory:
        execute(config, "ALTER TABLE vectors_chunks ADD CONSTRAINT none CHECK (false) NOT VALID")
        kept = memory.remember("Ada keeps the parcel in depot 49.")
        assert kept.pending
        assert len(execute(config, "SELECT * FROM outbox")) == 1
        execute(config, "ALTER TABLE vectors_chunks DROP CONSTRAINT none")
    with open_in(tmp_path, config) as memory:
        assert memory.recall("where is the parcel?").hits[0].id == kept.id
        assert memory.doctor().healthy


def contents(folder: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in folder.iterdir()}


def test_a_dump_goes_to_the_server_and_back_byte_for_byte(tmp_path: Path, config: Config) -> None:
    embedded = replace(config, storage=StorageConfig(buffer_pool_mb=128, max_db_gb=8))
    note = tmp_path / "note.md"
    note.write_text("# Depots\n\nAda Lovelace leads the depot in Rome. Bob Kahn works for Ada Lovelace.\n")
    with open_in(tmp_path / "here", embedded) as memory:
        memory.ingest(str(note))
        kept = memory.remember("Ada keeps the parcel in depot 49.", session="s1", categories=["parcels"])
        memory.remember("Ada keeps the parcel in depot 50.", replaces=[kept.id])
        memory.drain()
        memory.dump(str(tmp_path / "first"), vectors=True)
    with open_in(tmp_path / "node", config) as memory:
        memory.load(str(tmp_path / "first"))
        memory.dump(str(tmp_path / "second"), vectors=True)
        assert memory.recall("where is the parcel?").hits[0].text.endswith("50.")
        assert memory.doctor().healthy
    with open_in(tmp_path / "back", embedded) as memory:
        memory.load(str(tmp_path / "second"))
        memory.dump(str(tmp_path / "third"), vectors=True)
    assert contents(tmp_path / "first") == contents(tmp_path / "second") == contents(tmp_path / "third")
    assert len(contents(tmp_path / "first")) > 5


def test_a_call_for_one_project_sees_and_writes_nothing_of_another(tmp_path: Path, config: Config) -> None:
    with open_in(tmp_path, config) as memory:
        other = memory.remember("Bob keeps the ladder in depot 7.", project="q")
        with bounded_to(["p"]):
            kept = memory.remember("Ada keeps the parcel in depot 49.")
            graph = memory._opened.graph
            assert [row.id for rows in graph.scan(CHUNK) for row in rows] == [kept.id]
            assert graph.chunks([other.id]) == ()
            assert [view.name for view in graph.projects()] == ["p"]
            assert {hit.id for hit in memory.recall("where is the ladder?").hits} <= {kept.id}
        assert memory._opened.snapshots.of("q").size
        assert {row.id for rows in memory._opened.graph.scan(CHUNK) for row in rows} == {kept.id, other.id}


def test_nothing_of_the_address_is_stored(tmp_path: Path, config: Config) -> None:
    with open_in(tmp_path, config) as memory:
        memory.remember("Ada keeps the parcel in depot 49.")
        assert SECRET not in repr(memory.config) + repr(memory)
    written = b"".join(file.read_bytes() for file in tmp_path.rglob("*") if file.is_file())
    assert SECRET.encode() not in written
    tables = execute(config, "SELECT tablename FROM pg_tables WHERE schemaname = current_schema()")
    rows = [execute(config, f'SELECT * FROM "{name}"') for (name,) in tables]
    assert len(rows) > 15
    assert SECRET not in repr(rows)


def test_without_an_address_nothing_is_opened(
    tmp_path: Path, config: Config, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("HYDRAMEM_STORAGE_URL")
    with pytest.raises(ConfigError, match="HYDRAMEM_STORAGE_URL is not set"):
        open_in(tmp_path, config)


def test_a_folder_belongs_to_one_engine(tmp_path: Path, config: Config) -> None:
    embedded = replace(config, storage=StorageConfig(buffer_pool_mb=128, max_db_gb=8))
    open_in(tmp_path / "server", config).close()
    with pytest.raises(StorageError, match="written by 'postgres'"):
        open_in(tmp_path / "server", embedded)
    open_in(tmp_path / "file", embedded).close()
    with pytest.raises(StorageError, match="written by 'ladybug'"):
        open_in(tmp_path / "file", config)


def test_what_works_on_files_alone_says_so(tmp_path: Path, config: Config) -> None:
    with open_in(tmp_path / "one", config) as memory:
        kept = memory.remember("Ada keeps the parcel in depot 49.")
        with pytest.raises(InvalidInputError, match=r"^backup: .*pg_dump.*hydramem dump"):
            memory.backup(str(tmp_path / "one.backup"))
        with pytest.raises(InvalidInputError, match=r"^backup: "):
            memory.backup()
        assert not [path for path in tmp_path.rglob("*") if "backup" in path.name]
        with pytest.raises(InvalidInputError, match=r"pg_restore.*hydramem load"):
            memory.restore(str(tmp_path / "one.backup"))
        with pytest.raises(InvalidInputError, match=r"`load` it into a folder, erase there"):
            memory.erase(ids=[kept.id])
        assert memory.garden() != ()
        assert memory.recall("where is the parcel?").hits[0].id == kept.id


def test_a_memory_is_erased_by_way_of_a_folder(tmp_path: Path, config: Config) -> None:
    embedded = replace(config, storage=StorageConfig(buffer_pool_mb=128, max_db_gb=8))
    other = replace(config, storage=replace(config.storage, database_schema=new_schema()))
    with open_in(tmp_path / "one", config) as memory:
        gone = memory.remember("Ada keeps the parcel in depot 49.")
        kept = memory.remember("Bob drives the blue van on Mondays.")
        memory.drain()
        memory.dump(str(tmp_path / "whole"))
    with open_in(tmp_path / "folder", embedded) as memory:
        memory.load(str(tmp_path / "whole"))
        memory.erase(ids=[gone.id])
        memory.dump(str(tmp_path / "rest"))
    with open_in(tmp_path / "other", other) as memory:
        memory.load(str(tmp_path / "rest"))
        memory.drain()
        assert [row.id for rows in memory._opened.graph.scan(CHUNK) for row in rows] == [kept.id]
        assert memory.doctor().healthy
    tables = execute(other, "SELECT relname FROM pg_stat_user_tables WHERE schemaname = current_schema()")
    assert len(tables) > 10
    for (table,) in tables:
        rows = execute(other, f"""SELECT count(*) FROM "{table}" t WHERE t::text ILIKE '%depot%'""")
        assert rows == [(0,)], table
    execute(other, f'DROP SCHEMA "{other.storage.database_schema}" CASCADE')
