"""Reads of what a node holds in memory: all rows of a space at first, then those that were written since.

Rows are told by the transaction that wrote them and not by a sequence: a row of a lower number can be
committed later, and a cursor over numbers would never see it.
"""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from hydramem.core.errors import StorageError
from hydramem.storage.cached_rows.row_arrays import microseconds
from hydramem.storage.cached_rows.word_index import WordIndex
from hydramem.storage.postgres.connection import Connection, Row
from hydramem.storage.postgres.pipelines import one_pipeline
from hydramem.storage.postgres.vectors.stored_text import plain
from hydramem.storage.postgres.vectors.vector_schema import NAMES, TIMES, SpaceTables

if TYPE_CHECKING:
    import pyarrow as pa

CHUNK_FILTERS = (*NAMES, "categories", "private", "confidence", *TIMES)
"""The columns of chunks that filters look at."""
ENTITY_FILTERS = ("project",)

# More changed rows are read as all rows are, at once.
_MOST_CHANGED = 5000

_ROWS_PER_PIECE = 8192
_WORDS_PER_PIECE = 4096

_STATE = "select pg_current_snapshot()::text, to_regclass(%(table)s)::oid::bigint"

# Every transaction below a snapshot's xmin has ended: what it wrote was seen then, or never is.
# Rows of a dump that was restored on another server have numbers to come: they are read once, at the start.
_SINCE = (
    "written >= pg_snapshot_xmin(%(seen)s::text::pg_snapshot)"
    " and {row}written < pg_snapshot_xmax(pg_current_snapshot())"
    " and not pg_visible_in_snapshot({row}written, %(seen)s::text::pg_snapshot)"
    f" limit {_MOST_CHANGED + 1}"
)
_CHUNKS = ", ".join(f"c.{name}" for name in ("id", "embedding", *CHUNK_FILTERS))
_VERSION = "hashtextextended(t.text, 0)"
_CHANGED = (
    f"select {_CHUNKS}, t.text, {_VERSION} from {{chunks}} c left join {{texts}} t on t.number = c.number"
    f" where c.{_SINCE.format(row='c.')}",
    f"select id, embedding, project from {{entities}} where {_SINCE.format(row='')}",
    "select g.id, g.kind from {gone} g where case g.kind"
    " when 'chunks' then not exists (select from {chunks} c where c.id = g.id)"
    f" else not exists (select from {{entities}} e where e.id = g.id) end and g.{_SINCE.format(row='g.')}",
)
_TEXTS = (
    f"select t.number, c.id, t.length, {_VERSION} from {{texts}} t join {{chunks}} c on c.number = t.number"
    " order by t.number"
)
_POSTINGS = (
    "select word, string_agg(int8send(number) || int4send(count), ''::bytea) from {postings} group by word"
)
_POSTING = np.dtype([("number", ">i8"), ("count", ">i4")])


@dataclass(frozen=True, slots=True, kw_only=True)
class SpaceState:
    """When the rows of a space were read.

    Attributes:
        seen: The snapshot of the database.
        table: Which table it was; another one has its name where the space was made anew.
    """

    seen: str
    table: int | None

    @property
    def next_transaction(self) -> int:
        """The number that the next transaction was to have."""
        return int(self.seen.split(":")[1])


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangedRows:
    """What was written since: chunks with text and version of it, entities, id and table of deleted rows."""

    state: SpaceState
    chunks: Sequence[Row]
    entities: Sequence[Row]
    gone: Sequence[Row]

    @property
    def too_many(self) -> bool:
        """Whether it pays to read all rows instead; some were not read."""
        return max(map(len, (self.chunks, self.entities, self.gone))) > _MOST_CHANGED


def can_hold(connection: Connection, tables: SpaceTables, most: int) -> bool:
    """Say whether this role sees every row, and whether they are few enough."""
    owned = connection.execute(
        "select pg_has_role(relowner, 'usage') from pg_class where oid = to_regclass(%s)",
        [tables.qualified("chunks")],
    ).fetchone()
    for table in ("chunks", "entities"):
        few = tables.naming(f"select count(*) from (select 1 from {{{table}}} limit %s) as few")
        counted = connection.execute(few, [most + 1]).fetchone()
        if counted is None or counted[0] > most:
            return False
    return bool(owned and owned[0])


def read_state(connection: Connection, tables: SpaceTables) -> SpaceState:
    """Return the state of now: who reads the rows after it, and then what changed since, misses nothing."""
    row = connection.execute(_STATE, {"table": tables.qualified("chunks")}).fetchone()
    if row is None:
        raise StorageError("the database does not say which transactions run")
    return SpaceState(seen=row[0], table=row[1])


def read_changed(connection: Connection, tables: SpaceTables, seen: str) -> ChangedRows:
    """Read what was written since a state, in one round trip."""
    statements = [tables.naming(statement) for statement in (_STATE, *_CHANGED)]
    values = {"table": tables.qualified("chunks"), "seen": seen}
    with one_pipeline(connection):
        cursors = [connection.cursor(binary=True) for _ in statements]
        for cursor, statement in zip(cursors, statements, strict=True):
            cursor.execute(statement, values)
    state, chunks, entities, gone = (cursor.fetchall() for cursor in cursors)
    return ChangedRows(
        state=SpaceState(seen=state[0][0], table=state[0][1]),
        chunks=chunks,
        entities=entities,
        gone=gone,
    )


def read_table(connection: Connection, tables: SpaceTables, table: str) -> "Iterator[pa.Table]":
    """Yield every row of `chunks` or `entities` in pieces, as `columns_of_rows` returns them."""
    filters = CHUNK_FILTERS if table == "chunks" else ENTITY_FILTERS
    statement = tables.naming(
        f"select id, embedding, {', '.join(filters)} from {{{table}}} where id > %s"
        f" order by id limit {_ROWS_PER_PIECE}"
    )
    last = ""
    while True:
        with connection.cursor(binary=True) as cursor:
            rows = cursor.execute(statement, [last]).fetchall()
        if not rows:
            return
        yield columns_of_rows(rows, filters)
        last = rows[-1][0]


def read_words(connection: Connection, tables: SpaceTables) -> WordIndex:
    """Read the words of every row."""
    with connection.cursor(binary=True) as cursor:
        texts = cursor.execute(tables.naming(_TEXTS)).fetchall()
    numbers = np.array([row[0] for row in texts], dtype=np.int64)
    pairs: dict[str, bytes] = {}
    # A cursor of the server, so that the words of a large table are not in memory twice.
    with connection.transaction(), closing(connection.cursor("held_words", binary=True)) as cursor:
        cursor.execute(tables.naming(_POSTINGS))
        while words := cursor.fetchmany(_WORDS_PER_PIECE):
            pairs |= _pairs(words, numbers)
    index = WordIndex()
    index.load([plain(row[1]) for row in texts], [row[2] for row in texts], [row[3] for row in texts], pairs)
    return index


def _pairs(words: Sequence[Row], numbers: NDArray[np.int64]) -> Iterator[tuple[str, bytes]]:
    """Yield words with their pairs of a row's place and a count.

    Args:
        words: Words with their postings as the server has put them together.
        numbers: Of the rows, in order; postings of others are left out: they were written just now.
    """
    postings = np.frombuffer(b"".join(row[1] for row in words), dtype=_POSTING)
    places = np.searchsorted(numbers, postings["number"])
    known = places < len(numbers)
    known[known] = numbers[places[known]] == postings["number"][known]
    pairs = np.stack([places.astype(np.int32), postings["count"].astype(np.int32)], axis=1)
    begin = 0
    for word, held in words:
        end = begin + len(held) // _POSTING.itemsize
        yield word, pairs[begin:end][known[begin:end]].tobytes()
        begin = end


def columns_of_rows(rows: Sequence[Row], filters: Sequence[str]) -> "pa.Table":
    """Return rows of id, vector and filter columns as columns of Arrow, as `RowCache` takes them."""
    import pyarrow as pa

    ids, vectors, *others = zip(*rows, strict=True)
    columns: dict[str, Any] = {"id": [plain(id) for id in ids], "vector": _vector_column(vectors)}
    for name, values in zip(filters, others, strict=True):
        columns[name] = _filter_column(name, values)
    return pa.table(columns)


def _filter_column(name: str, values: Iterable[Any]) -> "pa.Array":
    import pyarrow as pa

    if name in TIMES:
        moments = (None if each is None else microseconds(each.replace(tzinfo=UTC)) for each in values)
        return pa.array(moments, type=pa.int64())
    if name == "categories":
        return pa.array([list(map(plain, each or ())) for each in values], type=pa.list_(pa.string()))
    if name == "private":
        return pa.array(values, type=pa.bool_())
    if name == "confidence":
        return pa.array(values, type=pa.float64())
    return pa.array([None if each is None else plain(each) for each in values], type=pa.string())


def _vector_column(vectors: Sequence[Any]) -> "pa.Array":
    import pyarrow as pa

    present = [vector.to_numpy() for vector in vectors if vector is not None]
    absent = np.array([vector is None for vector in vectors], dtype=np.bool_)
    dimension = len(present[0]) if present else 1
    values = np.zeros((len(vectors), dimension), dtype=np.float32)
    if present:
        values[~absent] = np.stack(present)
    return pa.FixedSizeListArray.from_arrays(pa.array(values.ravel()), dimension, mask=pa.array(absent))
