"""A session of one project sees and changes nothing of another in any table, also without a filter."""

import json
import threading
from collections.abc import Collection, Iterator
from contextlib import closing

import numpy as np
import pytest

from hydramem.core.config import StorageConfig
from hydramem.core.errors import StorageError
from hydramem.core.row_types import Recalled
from hydramem.storage.chunk_filter import ChunkFilter
from hydramem.storage.vector_rows import ChunkVector, EntityVector
from hydramem.storage.write import RequestRow, Write
from tests.storage import rows
from tests.storage.postgres_server import new_schema, server_address

pytest.importorskip("psycopg", reason="needs the extra `postgres`")

from psycopg.conninfo import make_conninfo

from hydramem.storage.postgres.connection import Database
from hydramem.storage.postgres.graph.graph import open_postgres_graph
from hydramem.storage.postgres.row_security import secure_tables
from hydramem.storage.postgres.vectors.vectors import PostgresVectors, open_vectors

_ALLOWED: list[Collection[str] | None] = [None]
_VECTOR = np.ones(8, np.float32)
Opened = tuple[Database, PostgresVectors]


@pytest.fixture(scope="module")
def opened() -> Iterator[Opened]:
    """Return a database that holds rows of two projects in every table."""
    database = Database(server_address(), schema=new_schema(), projects=lambda: _ALLOWED[0])
    graph = open_postgres_graph(database)
    with closing(graph), closing(open_vectors(database, "vectors", 8, StorageConfig())) as vectors:
        for project in ("p1", "p2"):
            graph.write(written(project))
            text = f"{project} keeps otters"
            chunk = rows.chunk(f"c1{project}", text, project=project)
            entity = rows.entity(f"e1{project}", project=project)
            vectors.put(
                [ChunkVector(chunk=chunk, vector=_VECTOR)], [EntityVector(entity=entity, vector=_VECTOR)]
            )
            deleted = rows.chunk(f"c9{project}", project=project)
            vectors.put([ChunkVector(chunk=deleted, vector=_VECTOR)])
            vectors.remove(chunks=[deleted.id])
        with database.transaction() as connection:
            connection.execute("insert into vectors_frequent_words values ('p1', 'a', 1), ('p2', 'a', 2)")
        yield database, vectors
        with database.transaction() as connection:
            connection.execute(f'drop schema "{database.schema}" cascade')


def written(project: str) -> Write:
    """Return a write that has a row of each kind in a project."""

    def name(id: str) -> str:
        return f"{id}{project}"

    chunks = [rows.chunk(name(id), project=project, document=name("d1")) for id in ("c1", "c2")]
    return Write(
        changes=(rows.record("test", project=project, target="any"),),
        documents=(rows.document(name("d1"), project=project),),
        chunks=tuple(chunks),
        entities=tuple(rows.entity(name(id), project=project) for id in ("e1", "e2")),
        relations=(rows.relation(name("e1"), "leads", name("e2"), project=project),),
        mentions=(rows.mention(name("c1"), name("e1")),),
        links=(rows.link(name("c1"), name("c2")),),
        sessions=(rows.session(name("s1"), project=project),),
        recalled=(Recalled(session=name("s1"), chunk=name("c1"), rank=1, at=rows.T0),),
        jobs=(rows.job(name("j1"), project=project),),
        items=(rows.item(name("i1"), project=project),),
        requests=(RequestRow(id=name("q1"), operation="remember", answer="{}", at=rows.T0),),
    )


@pytest.fixture
def as_p1(opened: Opened) -> Iterator[Opened]:
    _ALLOWED[0] = ["p1"]
    yield opened
    _ALLOWED[0] = None


def tables_of(database: Database) -> dict[str, str]:
    """Return the column that says whose a row is, by table; empty where there is none."""
    with database.reading() as connection:
        found = connection.execute(
            "select table_name, max(column_name) filter (where column_name in ('project', 'projects'))"
            " from information_schema.columns where table_schema = %s group by table_name",
            [database.schema],
        ).fetchall()
    return {table: column or "" for table, column in found}


def count(database: Database, table: str, condition: str = "true") -> int:
    with database.reading() as connection:
        return int(connection.execute(f"select count(*) from {table} where {condition}").fetchone()[0])  # type: ignore[index]


def belongs(column: str, project: str) -> str:
    return f"project = '{project}'" if column == "project" else f"projects = '{{{project}}}'"


def test_every_table_says_whose_its_rows_are_and_the_test_has_rows_of_two_projects(opened: Opened) -> None:
    database, _ = opened
    tables = tables_of(database)
    assert len(tables) > 15
    assert {table for table, column in tables.items() if not column} == {"meta"}
    for table, column in tables.items():
        if column:
            assert count(database, table, belongs(column, "p1")) > 0, table
            assert count(database, table, belongs(column, "p2")) > 0, table


def test_a_session_of_one_project_sees_and_changes_nothing_of_another(opened: Opened) -> None:
    database, _ = opened
    for table, column in tables_of(database).items():
        if not column:
            continue
        mine, all_rows = count(database, table, belongs(column, "p1")), count(database, table)
        assert 0 < mine < all_rows
        foreign = a_row(database, table, belongs(column, "p2"))
        _ALLOWED[0] = ["p1"]
        try:
            assert count(database, table) == mine, table
            assert count(database, table, belongs(column, "p2")) == 0, table
            for statement in (f"update {table} set {column} = {column}", f"delete from {table}"):
                assert rolled_back(database, statement) == mine, table
            theirs = "'p2'" if column == "project" else "'{p2}'"
            for statement in (f"update {table} set {column} = {theirs}", inserted(table, foreign)):
                with pytest.raises(StorageError, match=r"42501|428C9"):
                    rolled_back(database, statement)
        finally:
            _ALLOWED[0] = None
        assert count(database, table) == all_rows, table


def a_row(database: Database, table: str, condition: str) -> str:
    with database.reading() as connection:
        statement = f"select row_to_json(t)::text from {table} t where {condition} limit 1"
        row: dict[str, object] = json.loads(connection.execute(statement).fetchone()[0])  # type: ignore[index]
    return json.dumps(
        row | ({"id": "new"} if "id" in row else {}) | ({"word": "new"} if "word" in row else {})
    )


def inserted(table: str, row: str) -> str:
    quoted = row.replace("'", "''").replace("%", "%%")
    return (
        f"insert into {table} overriding system value"
        f" select * from json_populate_record(null::{table}, '{quoted}'::json)"
    )


def rolled_back(database: Database, statement: str) -> int:
    """Run a statement, undo it, and return how many rows it touched."""
    with database.transaction() as connection, connection.transaction(force_rollback=True):
        return int(connection.execute(statement).rowcount)
    raise AssertionError("the statement was not run")


def test_a_session_without_projects_sees_nothing(opened: Opened) -> None:
    database, _ = opened
    with database.transaction() as connection:
        connection.execute("set local role hydramem_app")
        for table, column in tables_of(database).items():
            if column:
                assert connection.execute(f"select 1 from {table}").fetchall() == [], table
    _ALLOWED[0] = []
    try:
        assert count(database, "chunk") == 0
    finally:
        _ALLOWED[0] = None


def test_the_stores_own_facts_are_read_and_not_written(as_p1: Opened) -> None:
    database, _ = as_p1
    assert count(database, "meta") > 0
    with pytest.raises(StorageError, match="42501"):
        rolled_back(database, "update meta set value = '1'")


def test_a_search_without_a_filter_finds_what_its_project_has(as_p1: Opened) -> None:
    _, vectors = as_p1
    everything = ChunkFilter(states=())
    assert [hit.id for hit in vectors.nearest(_VECTOR, everything, 10)] == ["c1p1"]
    assert [hit.id for hit in vectors.nearest(_VECTOR, ChunkFilter(projects=("p1",)), 10)] == ["c1p1"]
    assert vectors.nearest(_VECTOR, ChunkFilter(projects=("p2",)), 10) == ()
    assert [hit.id for hit in vectors.matching("otters keeps p2", everything, 10)] == ["c1p1"]
    assert vectors.chunks_without_vector(["c1p1", "c1p2"]) == frozenset()
    assert [hit.id for hit in vectors.nearest_entities(_VECTOR, (), 10)] == ["e1p1"]
    assert vectors.chunk_hashes().keys() == vectors.vectors(["c1p1", "c1p2"]).keys() == {"c1p1"}
    foreign = rows.chunk("c1p2", "taken over", project="p1")
    with pytest.raises(StorageError, match="42501"):
        vectors.put([ChunkVector(chunk=foreign, vector=_VECTOR)])
    vectors.remove(chunks=["c1p2"], entities=["e1p2"])
    _ALLOWED[0] = None
    assert vectors.chunk_hashes().keys() == {"c1p1", "c1p2"}
    assert vectors.entity_hashes().keys() == {"e1p1", "e1p2"}


def test_what_a_session_writes_for_its_own_project_stays(as_p1: Opened) -> None:
    _, vectors = as_p1
    new = rows.chunk("c9", "a badger", project="p1")
    vectors.put([ChunkVector(chunk=new, vector=_VECTOR)])
    assert [hit.id for hit in vectors.matching("badger", ChunkFilter(), 5)] == ["c9"]
    vectors.remove(chunks=["c9"])
    assert vectors.matching("badger", ChunkFilter(), 5) == ()


def test_an_owner_without_special_rights_sees_every_row_and_its_calls_do_not() -> None:
    owner = new_schema()
    administrator = Database(server_address(), schema=new_schema())
    open_vectors(administrator, "vectors", 8, StorageConfig())  # which makes the role of calls
    with administrator.transaction() as connection:
        name = connection.info.dbname
        connection.execute(f'create role "{owner}" login createrole nosuperuser nobypassrls')
        connection.execute(f'grant create on database "{name}" to "{owner}"')
        connection.execute(f'grant hydramem_app to "{owner}"')
    allowed: list[Collection[str] | None] = [None]
    address = make_conninfo(server_address(), user=owner)
    database = Database(address, schema=new_schema(), projects=lambda: allowed[0])
    with closing(database), closing(open_vectors(database, "vectors", 8, StorageConfig())) as vectors:
        for project in ("p1", "p2"):
            vectors.put([ChunkVector(chunk=rows.chunk(project, project=project), vector=_VECTOR)])
        assert vectors.chunk_hashes().keys() == {"p1", "p2"}
        allowed[0] = ["p2"]
        assert vectors.chunk_hashes().keys() == {"p2"}
        allowed[0] = None
        with database.transaction() as connection:
            connection.execute(f'drop schema "{database.schema}" cascade')
    with closing(administrator), administrator.transaction() as connection:
        connection.execute(f'drop schema "{administrator.schema}" cascade')
        connection.execute(f'drop owned by "{owner}"')
        connection.execute(f'drop role "{owner}"')


def test_two_that_open_a_store_at_once_make_its_policies_once() -> None:
    first = Database(server_address(), schema=new_schema())
    second = Database(server_address(), schema=first.schema)
    with closing(first), closing(second):
        with first.transaction() as connection:
            connection.execute("create table kept (project text)")
        begun, failed = threading.Event(), list[StorageError]()

        def secure() -> None:
            try:
                with second.transaction() as connection:
                    begun.set()
                    secure_tables(second, connection)
            except StorageError as error:
                failed.append(error)

        with first.transaction() as connection:
            secure_tables(first, connection)
            thread = threading.Thread(target=secure)
            thread.start()
            assert begun.wait(10)
            thread.join(0.3)
        thread.join()
        assert not failed
        with first.transaction() as connection:
            found = connection.execute("select count(*) from pg_policies where tablename = 'kept'").fetchone()
            assert found == (2,)
            connection.execute(f'drop schema "{first.schema}" cascade')
