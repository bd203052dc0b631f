"""Writing full text: the words of each chunk as rows, so that any server can score them.

PostgreSQL's own full text knows neither BM25 nor the words that other stores use (`text.search_terms.words`).
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from psycopg import Cursor

from hydramem.storage.postgres.connection import Connection, Row
from hydramem.storage.postgres.vectors.stored_text import plain, readable
from hydramem.storage.postgres.vectors.vector_schema import SpaceTables
from hydramem.text.search_terms import words

# Longer words are not indexed, as in the store on LanceDB: long enough for any hash in hex.
_LONGEST_WORD = 128


@dataclass(frozen=True, slots=True)
class TextRow:
    """A chunk's text as full text reads it, under the number of the chunk's row."""

    number: int
    project: str
    text: str


def indexed_words(text: str) -> Counter[str]:
    """Return the words of a text that are indexed, with their counts."""
    return Counter(word for word in words(text) if len(word) <= _LONGEST_WORD)


def held_texts(connection: Connection, tables: SpaceTables, ids: Sequence[str]) -> Cursor[Row]:
    """Ask for rows of chunks: id, number and project; then number, project, text, words, length of the text.

    What follows the first project is null where the chunk has no text yet. The rows can be fetched when the
    pipeline that the connection is in has ended.
    """
    return connection.execute(
        tables.naming(
            "select c.id, c.number, c.project, t.number, t.project, t.text, t.words, t.length"
            " from {chunks} c left join {texts} t on t.number = c.number where c.id = any(%s)"
        ),
        [list(ids)],
    )


def write_texts(connection: Connection, tables: SpaceTables, chunks: Sequence[tuple[Row, str]]) -> None:
    """Insert or replace texts and their words; one that is there already costs nothing.

    Args:
        connection: In a transaction that has written the chunks, and so holds their locks.
        chunks: Rows of `held_texts`, each with the text that its chunk has now.
    """
    changed, replaced = [], []
    for (_, number, project, *held), text in chunks:
        if held[1:3] != [project, readable(text)]:
            changed.append(TextRow(number, project, text))
            if held[0] is not None:
                replaced.append(tuple(held))
    if changed:
        with connection.pipeline():
            _delete_words(connection, tables, replaced)
            _write_words(connection, tables, changed)


def remove_texts(connection: Connection, tables: SpaceTables, numbers: Sequence[int]) -> None:
    """Delete the texts of chunks, with their words."""
    gone = connection.execute(
        tables.naming(
            "delete from {texts} where number = any(%s) returning number, project, text, words, length"
        ),
        [list(numbers)],
    ).fetchall()
    _delete_words(connection, tables, gone)


def rewrite_words(connection: Connection, tables: SpaceTables) -> None:
    """Make the words of every text anew."""
    for table in ("postings", "text_counts", "frequent_words"):
        connection.execute(tables.naming(f"delete from {{{table}}}"))
    last = 0
    while True:
        rows = connection.execute(
            tables.naming(
                "select number, project, text from {texts} where number > %s order by number limit 500"
            ),
            [last],
        ).fetchall()
        if not rows:
            return
        texts = [TextRow(number, project, plain(text)) for number, project, text in rows]
        _write_words(connection, tables, texts)
        last = rows[-1][0]


def _write_words(connection: Connection, tables: SpaceTables, rows: Sequence[TextRow]) -> None:
    """Write texts and their words, of which none is there."""
    counted = {row.number: indexed_words(row.text) for row in rows}
    _insert_texts(connection, tables, rows, counted)
    _insert_words(connection, tables, rows, counted)
    _count(connection, tables, [(row.project, 1, counted[row.number].total()) for row in rows])


def _insert_texts(
    connection: Connection, tables: SpaceTables, rows: Sequence[TextRow], counted: Mapping[int, Counter[str]]
) -> None:
    statement = tables.naming(
        "insert into {texts} (number, project, text, words, length) values (%s, %s, %s, %s, %s)"
        " on conflict (number) do update set project = excluded.project, text = excluded.text,"
        " words = excluded.words, length = excluded.length"
    )
    values = [
        (row.number, row.project, readable(row.text), list(found), found.total())
        for row, found in ((row, counted[row.number]) for row in rows)
    ]
    with connection.cursor() as cursor:
        cursor.executemany(statement, values)


def _insert_words(
    connection: Connection, tables: SpaceTables, rows: Sequence[TextRow], counted: Mapping[int, Counter[str]]
) -> None:
    postings = sorted(
        (word, row.number, count, counted[row.number].total(), row.project)
        for row in rows
        for word, count in counted[row.number].items()
    )
    if postings:
        connection.execute(
            tables.naming(
                "insert into {postings} (word, number, count, length, project) select * from"
                " unnest(%s::text[], %s::bigint[], %s::integer[], %s::integer[], %s::text[])"
            ),
            [list(column) for column in zip(*postings, strict=True)],
        )


def _delete_words(connection: Connection, tables: SpaceTables, held: Sequence[Row]) -> None:
    """Delete the words of texts as they were held: number, project, text, words and length of each."""
    pairs = [(word, number) for number, _, _, found, _ in held for word in found]
    if pairs:
        connection.execute(
            tables.naming(
                "delete from {postings} p using unnest(%s::text[], %s::bigint[]) as gone (word, number)"
                " where p.word = gone.word and p.number = gone.number"
            ),
            [list(column) for column in zip(*pairs, strict=True)],
        )
    _count(connection, tables, [(project, -1, -length) for _, project, _, _, length in held])


def _count(connection: Connection, tables: SpaceTables, changes: Iterable[tuple[str, int, int]]) -> None:
    totals: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    for project, rows, length in changes:
        totals[project][0] += rows
        totals[project][1] += length
    if totals:
        with connection.cursor() as cursor:
            cursor.executemany(
                tables.naming("insert into {text_counts} (project, rows, words) values (%s, %s, %s)"),
                [(project, *both) for project, both in sorted(totals.items())],
            )
