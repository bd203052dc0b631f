"""Where the tokens of a store's server are: in its folder, or in its database."""

from pathlib import Path

from hydramem.core.config import StorageConfig
from hydramem.core.settings.environment import storage_address
from hydramem.storage.tokens.token_file import TokenFile
from hydramem.storage.tokens.token_rows import TokenStore


def token_store(folder: Path, settings: StorageConfig) -> TokenStore:
    """Return where the tokens are.

    Args:
        folder: The store's folder.
        settings: The store's.

    Raises:
        ConfigError: The store is on PostgreSQL, whose address is not set.
        StorageError: The database cannot be reached.
    """
    if settings.graph != "postgres":
        return TokenFile(folder)
    from hydramem.storage.postgres.connection import Database
    from hydramem.storage.postgres.token_table import TokenTable

    database = Database(storage_address(), schema=settings.database_schema, most_connections=2)
    return TokenTable(database)
