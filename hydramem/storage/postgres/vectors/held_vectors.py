"""The vectors of a table in this process: candidates of an exact search, which the database filters.

The database computes 20,000 distances in some 30 ms, memory in 2. Each search first reads the rows that were
written since the last one. They are told by the transaction that wrote them and not by a sequence: a row of a
lower number can be committed later, and a cursor over numbers would never see it.
"""

import threading
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hydramem.storage.postgres.connection import Connection, Database
from hydramem.storage.postgres.vectors.vector_schema import SpaceTables
from hydramem.storage.vector_rows import Vector

# Every transaction below the snapshot's xmin has ended: what it wrote is seen now, or never.
_WRITTEN_SINCE = """
    select null::text, null::vector, pg_snapshot_xmin(pg_current_snapshot())::text
    union all
    select id, embedding, null from {%s} where written >= %%s::text::xid8
"""
# Rows of a dump that was restored on another server have numbers to come: they are read once, at the start.
_AND_SEEN = " and written < pg_snapshot_xmax(pg_current_snapshot())"
_NOTHING_SEEN = "0"


class HeldVectors:
    """The vectors of one table, of every project.

    Args:
        database, tables, table: Where the rows are: `chunks` or `entities`.
        dimension: Length of a vector.
        most: How many rows are held at most; a larger table is not held.
    """

    def __init__(
        self, database: Database, tables: SpaceTables, table: str, dimension: int, most: int
    ) -> None:
        self._database = database
        self._tables = tables
        self._table = table
        self._most = most
        self._lock = threading.Lock()
        self._seen_to = _NOTHING_SEEN
        self._epoch = database.epoch
        self._refused = False
        self._ids: list[str] = []
        self._place: dict[str, int] = {}
        self._matrix: NDArray[np.float32] = np.zeros((0, dimension), dtype=np.float32)

    def candidates(self, query: Vector, wanted: int) -> Sequence[tuple[str, float]] | None:
        """Return the ids of the nearest rows with their cosine, best first; None where they are not held.

        Args:
            query: As `checked_vector` returns it.
            wanted: How many; fewer where there are fewer. Some may be deleted, or of any project.

        Raises:
            StorageError: The database cannot be read.
        """
        # What this thread has written and not committed is for its own eyes.
        if self._refused or self._database.in_transaction:
            return None
        with self._lock:
            if not self._ids and not self._can_hold():
                self._refused = True
                return None
            self._read_written()
            ids, count = self._ids, len(self._ids)
            matrix = self._matrix[:count]
            if count > self._most:
                self._refused, self._ids, self._place = True, [], {}
                self._matrix = self._matrix[:0]
                return None
        # A row without a vector is nowhere, and further than any.
        unit = (query / np.linalg.norm(query)).astype(np.float32)
        scores = np.nan_to_num(np.vecdot(matrix, unit), nan=-np.inf)
        if wanted < count:
            best = np.argpartition(scores, count - wanted)[count - wanted :]
        else:
            best = np.arange(count)
        ordered = best[np.argsort(-scores[best], kind="stable")]
        return [(ids[place], float(scores[place])) for place in ordered if np.isfinite(scores[place])]

    def _can_hold(self) -> bool:
        """Say whether this role sees every row, and whether they are few enough."""
        with self._database.apart() as connection:
            owned = connection.execute(
                "select pg_has_role(relowner, 'usage') from pg_class where oid = to_regclass(%s)",
                [f'"{self._tables.schema}"."{self._tables.space}_{self._table}"'],
            ).fetchone()
            counted = connection.execute(
                self._tables.naming(
                    f"select count(*) from (select 1 from {{{self._table}}} limit %s) as few"
                ),
                [self._most + 1],
            ).fetchone()
        return bool(owned and owned[0] and counted and counted[0] <= self._most)

    def _read_written(self) -> None:
        with self._database.apart() as connection:
            epoch, seen = self._database.epoch, self._seen_to
            if epoch != self._epoch:
                seen = _NOTHING_SEEN
            horizon, rows = self._written_since(connection, seen)
            if int(horizon) < int(seen):  # of a database that was restored
                seen = _NOTHING_SEEN
                horizon, rows = self._written_since(connection, seen)
        if seen == _NOTHING_SEEN:
            # Rows of lost transactions go, too. Not in place: another thread may still compute with these.
            self._ids, self._place, self._matrix = [], {}, self._matrix[:0]
        self._make_room(len(rows))
        for id, vector in rows:
            place = self._place.setdefault(id, len(self._ids))
            if place == len(self._ids):
                self._ids.append(id)
            self._matrix[place] = np.nan if vector is None else _unit(vector.to_numpy())
        self._seen_to, self._epoch = horizon, epoch

    def _written_since(self, connection: Connection, seen: str) -> tuple[str, list[tuple[str, Any]]]:
        """Return the oldest transaction that runs, and id and vector of each row written since one."""
        statement = _WRITTEN_SINCE % self._table + (_AND_SEEN if seen != _NOTHING_SEEN else "")
        with connection.cursor(binary=True) as cursor:
            rows = cursor.execute(self._tables.naming(statement), [seen]).fetchall()
        (horizon,) = (horizon for id, _, horizon in rows if id is None)
        return horizon, [(id, vector) for id, vector, _ in rows if id is not None]

    def _make_room(self, more: int) -> None:
        rows = len(self._ids) + more
        if rows > len(self._matrix):
            larger = np.zeros((max(rows, 2 * len(self._matrix)), self._matrix.shape[1]), dtype=np.float32)
            larger[: len(self._ids)] = self._matrix[: len(self._ids)]
            self._matrix = larger


def _unit(vector: NDArray[np.float32]) -> NDArray[np.float32]:
    return (vector / np.linalg.norm(vector)).astype(np.float32)
