"""Reads of any table: by id, by an edge's end, by conditions with paging, and scans in batches."""

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from hydramem.core.row_types import Chunk, Relation
from hydramem.storage.chunk_filter import ChunkFilter, RowFilter
from hydramem.storage.postgres.graph.filters import SqlConditions, chunk_conditions, row_conditions
from hydramem.storage.postgres.parameters import Parameters, as_parameters
from hydramem.storage.postgres.schema_statements import columns_of, key_columns, table_name
from hydramem.storage.row_codec import decode
from hydramem.storage.schema import CHUNK, RECALLED, RELATES, EdgeTable, NodeTable, Table
from hydramem.storage.store import End, GraphStore, Listing, Stretch, newest_recorded
from hydramem.storage.write_validation import check_page

if TYPE_CHECKING:
    from hydramem.storage.postgres.connection import Database

_MOST_ROWS = 2**62
_LEAST_POSITION, _MOST_POSITION = -(2**63), 2**63 - 1
_BETWEEN = """
SELECT {columns} FROM unnest(%(sessions)s::text[], %(documents)s::text[], %(firsts)s::bigint[],
  %(lasts)s::bigint[]) WITH ORDINALITY AS s(session, document, first, last, place)
CROSS JOIN LATERAL (
  SELECT * FROM chunk WHERE session = s.session AND position BETWEEN s.first AND s.last
  UNION ALL
  SELECT * FROM chunk WHERE s.session IS NULL AND document = s.document
    AND position BETWEEN s.first AND s.last
) AS c ORDER BY s.place, c.position, c.id
"""


def row_columns(table: Table, name: str = "c") -> str:
    """Return the columns of a row as a statement names them, in the order that `decode` reads."""
    return ", ".join(f'{name}."{column}"' for column in columns_of(table))


class PostgresReads(GraphStore):
    """Those methods of `GraphStore` that read rows."""

    def __init__(self, database: "Database") -> None:
        self._database = database

    def _rows(self, statement: str, parameters: Parameters) -> list[tuple[Any, ...]]:
        """Run one read."""
        with self._database.reading() as connection:
            return connection.execute(statement.encode(), as_parameters(parameters)).fetchall()

    def _decoded(self, table: Table, statement: str, parameters: Parameters) -> tuple[Any, ...]:
        return tuple(decode(table, values) for values in self._rows(statement, parameters))

    def nodes(self, table: NodeTable, ids: Sequence[str]) -> tuple[Any, ...]:
        """Return rows in the order of the ids, ids that are not there left out."""
        wanted = list(dict.fromkeys(ids))
        if not wanted:
            return ()
        statement = (
            f"SELECT {row_columns(table)} FROM {table_name(table)} c WHERE c.id = ANY(%(ids)s::text[])"
        )
        by_id = {row.id: row for row in self._decoded(table, statement, {"ids": wanted})}
        return tuple(by_id[id] for id in wanted if id in by_id)

    def edges(self, table: EdgeTable, ids: Sequence[str], *, end: End) -> list[Any]:
        """Return the edges that have one of these nodes at one end."""
        wanted = list(dict.fromkeys(ids))
        if not wanted:
            return []
        column = table.ends[0 if end == "source" else 1]
        statement = (
            f"SELECT {row_columns(table)} FROM {table_name(table)} c "
            f'WHERE c."{column}" = ANY(%(ids)s::text[])'
        )
        return list(self._decoded(table, statement, {"ids": wanted}))

    def _edges_around(self, table: EdgeTable, ids: Sequence[str]) -> Iterable[Any]:
        """Return the edges that have one of these nodes at either end, each once, by one statement."""
        wanted = list(dict.fromkeys(ids))
        if not wanted:
            return ()
        at_an_end = " UNION ".join(
            f'SELECT c.* FROM {table_name(table)} c WHERE c."{end}" = ANY(%(ids)s::text[])'
            for end in table.ends
        )
        statement = f"SELECT {row_columns(table)} FROM ({at_an_end}) c"
        return self._decoded(table, statement, {"ids": wanted})

    def relations_between(self, pairs: Sequence[tuple[str, str]]) -> tuple[Relation, ...]:
        """Return every relation from the first to the second of each pair; others of either are not read."""
        wanted = list(dict.fromkeys(pairs))
        if not wanted:
            return ()
        statement = (
            f"SELECT {row_columns(RELATES)} FROM relates c WHERE (c.subject, c.object) IN "
            "(SELECT * FROM unnest(%(sources)s::text[], %(targets)s::text[]))"
        )
        ends = {"sources": [source for source, _ in wanted], "targets": [target for _, target in wanted]}
        return newest_recorded(RELATES, self._decoded(RELATES, statement, ends))

    def select(
        self,
        table: Table,
        where: RowFilter,
        page: Listing | None = None,
        *,
        order: Sequence[str],
        newest: bool = False,
    ) -> tuple[Any, ...]:
        """Return rows of a table that a filter admits."""
        moments = ", ".join(f'c."{column}"' for column in order)
        ends = table.ends if isinstance(table, EdgeTable) else ()
        ties = ", ".join(f'c."{name}"' for name in ("id", *ends))
        by = f"coalesce({moments}){' DESC' if newest else ''}, {ties}"
        return self._page(table, table_name(table), row_conditions(where), page, order=by)

    def list_chunks(
        self,
        where: ChunkFilter,
        page: Listing,
        *,
        event_type: str | None = None,
        mentioning: str | None = None,
        expired_by: datetime | None = None,
        by_time: bool = False,
    ) -> tuple[Chunk, ...]:
        """Return a page of chunks: by time, of one document or session by position, else newest first."""
        conditions = chunk_conditions(where)
        of_one = len(where.documents) == 1 or len(where.sessions) == 1
        order = "c.position, c.id" if of_one else "c.recorded_at DESC, c.position, c.id"
        if event_type is not None:
            conditions.add("c.event_type = %(event_type)s", event_type=event_type)
        if expired_by is not None:
            conditions.add("c.expires_at <= %(expired_by)s", expired_by=expired_by)
        if mentioning is not None:
            conditions.add(
                "EXISTS (SELECT FROM mentions m WHERE m.chunk = c.id AND m.entity = %(mentioning)s)",
                mentioning=mentioning,
            )
        if by_time:
            conditions.add("c.happened_at IS NOT NULL")
            order = "c.happened_at, c.position, c.id"
        return self._page(CHUNK, "chunk", conditions, page, order=order)

    def _page(
        self, table: Table, source: str, conditions: SqlConditions, page: Listing | None, *, order: str
    ) -> tuple[Any, ...]:
        """Return a page of the rows `c` that meet conditions; None returns all."""
        part, bounds = "", {}
        if page is not None:
            check_page(page)
            part = " LIMIT %(limit)s OFFSET %(offset)s"
            bounds = {"limit": min(page.limit, _MOST_ROWS), "offset": min(page.offset, _MOST_ROWS)}
        statement = f"SELECT {row_columns(table)} FROM {source} c{conditions.where} ORDER BY {order}{part}"
        return self._decoded(table, statement, {**conditions.parameters, **bounds})

    def between(self, stretches: Sequence[Stretch]) -> tuple[Chunk, ...]:
        """Return the chunks of stretches, each once: in order of stretch, position and id."""
        if not stretches:
            return ()
        bounds = {
            "sessions": [one.session for one in stretches],
            "documents": [one.document if one.session is None else None for one in stretches],
            "firsts": [max(one.first, _LEAST_POSITION) for one in stretches],
            "lasts": [min(one.last, _MOST_POSITION) for one in stretches],
        }
        statement = _BETWEEN.format(columns=row_columns(CHUNK))
        return tuple({row.id: row for row in self._decoded(CHUNK, statement, bounds)}.values())

    def scan(self, table: Table, batch: int = 1000) -> Iterator[tuple[Any, ...]]:
        """Yield every row in the order of its key; no transaction is open between two batches."""
        # Recalls may be equal, so their place tells them apart.
        key = ("session", "chunk", "at", "rank", "place") if table is RECALLED else key_columns(table)
        keys = ", ".join(f'c."{name}"' for name in key)
        after: tuple[Any, ...] | None = None
        while True:
            beyond = "" if after is None else f" WHERE ({keys}) > ({', '.join('%s' for _ in key)})"
            statement = (
                f"SELECT {keys}, {row_columns(table)} FROM {table_name(table)} c{beyond} "
                f"ORDER BY {keys} LIMIT {batch:d}"
            )
            with self._database.reading() as connection:
                found = connection.execute(statement.encode(), after).fetchall()
            if not found:
                return
            yield tuple(decode(table, values[len(key) :]) for values in found)
            after = found[-1][: len(key)]
