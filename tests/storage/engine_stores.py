"""Graph stores of the engine of a run, on files or on a server, told apart by a folder."""

from hashlib import blake2b
from pathlib import Path

from hydramem.core.config import StorageConfig
from hydramem.storage.cypher.graph import CypherGraph, open_graph
from hydramem.storage.schema import EDGE_TABLES, NODE_TABLES
from hydramem.storage.store import GraphStore
from hydramem.storage.vector_rows import VectorStore


def open_engine(folder: Path, settings: StorageConfig) -> GraphStore:
    """Open the graph that belongs to a folder: in it, or on PostgreSQL in a schema named after it."""
    if settings.graph != "postgres":
        return open_graph(folder, settings)
    from tests.storage.postgres_server import server_address

    address = server_address()
    from hydramem.storage.postgres.connection import Database
    from hydramem.storage.postgres.graph.graph import open_postgres_graph

    return open_postgres_graph(Database(address, schema=schema_of(folder), most_connections=8))


def emptied(graph: GraphStore) -> GraphStore:
    """Delete all rows of an open graph, in one statement: opening another takes ten times as long."""
    if isinstance(graph, CypherGraph):
        with graph._engine.writing() as query:
            query("MATCH (n) WHERE label(n) <> 'Meta' DETACH DELETE n", {})
        return graph
    from hydramem.storage.postgres.graph.graph import PostgresGraph

    assert isinstance(graph, PostgresGraph)
    tables = ", ".join(f'"{table.name.lower()}"' for table in (*NODE_TABLES, *EDGE_TABLES))
    with graph.database.transaction() as connection:
        connection.execute(f"TRUNCATE {tables} CASCADE".encode())
    return graph


def open_vectors_of(graph: GraphStore, folder: Path, settings: StorageConfig) -> VectorStore:
    """Open the vectors, of length 16, that go with a graph: beside it in its database, else in a folder."""
    if graph.engine != "postgres":
        from hydramem.storage.lance.vectors import open_vectors

        return open_vectors(folder, 16, settings)
    from hydramem.storage.postgres.graph.graph import PostgresGraph
    from hydramem.storage.postgres.vectors import vectors

    assert isinstance(graph, PostgresGraph)
    return vectors.open_vectors(graph.database, "vectors", 16, settings)


def schema_of(folder: Path) -> str:
    """Return the schema of the graph that belongs to a folder."""
    return f"test_{blake2b(str(folder).encode(), digest_size=6).hexdigest()}"


def drop_engine(folder: Path, settings: StorageConfig) -> None:
    """Delete what a server holds for a folder, once its store is closed."""
    if settings.graph != "postgres":
        return
    import psycopg

    from tests.storage.postgres_server import server_address

    with psycopg.connect(server_address(), autocommit=True) as connection:
        connection.execute(f'DROP SCHEMA IF EXISTS "{schema_of(folder)}" CASCADE')
