"""Which spaces of vectors a database holds."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hydramem.storage.postgres.connection import Database

_CHUNKS = "_chunks"


def space_names(database: "Database", prefix: str) -> list[str]:
    """Return the names of the spaces that begin so and have tables, as tables are named, by name."""
    with database.reading() as connection:
        rows = connection.execute(
            'SELECT table_name COLLATE "C" FROM information_schema.tables WHERE table_schema = %s '
            "AND starts_with(table_name, %s) AND right(table_name, %s) = %s ORDER BY 1",
            [database.schema, prefix, len(_CHUNKS), _CHUNKS],
        ).fetchall()
    return [str(name).removesuffix(_CHUNKS) for (name,) in rows]
