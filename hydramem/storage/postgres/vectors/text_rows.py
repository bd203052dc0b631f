"""Writing full text: the words of each chunk as rows, so that any server can score them.

PostgreSQL's own full text knows neither BM25 nor the words that other stores use (`text.search_terms.words`).
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

from hydramem.storage.postgres.connection import Connection, Row
from hydramem.storage.postgres.vectors.stored_text import plain, readable
from hydramem.storage.postgres.vectors.vector_schema import SpaceTables
from hydramem.text.search_terms import words

# Longer words are not indexed, as in the store on LanceDB: long enough for any hash in hex.
_LONGEST_WORD = 128

# Of texts that change: what is there of their words. Two statements, as a row that one statement deletes
# cannot be inserted by it.
_DELETE_REPLACED = """
    with gone as materialized (
        select t.number, t.project, t.words, t.length
        from unnest(%(ids)s::text[], %(texts)s::text[]) as given (id, text)
        join {chunks} c on c.id = given.id join {texts} t on t.number = c.number
        where (t.project, t.text) is distinct from (c.project, given.text)
    ), deleted as (
        delete from {postings} p using (select number, unnest(words) as word from gone) as old
        where p.word = old.word and p.number = old.number
    )
    insert into {text_counts} (project, rows, words)
    select project, -count(*), -sum(length) from gone group by project order by project
"""
_WRITE_TEXTS = """
    with changed as materialized (
        select c.number, c.project, given.text, given.length, given.place
        from unnest(%(ids)s::text[], %(texts)s::text[], %(lengths)s::integer[])
            with ordinality as given (id, text, length, place)
        join {chunks} c on c.id = given.id left join {texts} t on t.number = c.number
        where t.number is null or (t.project, t.text) is distinct from (c.project, given.text)
    ), found as materialized (
        select changed.number, changed.project, changed.length, given.word, given.count
        from unnest(string_to_array(%(words)s, ' '), string_to_array(%(places)s, ' ')::bigint[],
            string_to_array(%(counts)s, ' ')::integer[]) as given (word, place, count)
        join changed on changed.place = given.place
    ), posted as (
        insert into {postings} (word, number, count, length, project)
        select word, number, count, length, project from found order by word collate "C", number
    ), counted as (
        insert into {text_counts} (project, rows, words)
        select project, count(*), sum(length) from changed group by project order by project
    )
    insert into {texts} (number, project, text, words, length)
    select changed.number, changed.project, changed.text, coalesce(of_text.words, '{{}}'), changed.length
    from changed left join (select number, array_agg(word) as words from found group by number) as of_text
        on of_text.number = changed.number
    on conflict (number) do update set project = excluded.project, text = excluded.text,
        words = excluded.words, length = excluded.length
"""


@dataclass(frozen=True, slots=True)
class TextRow:
    """A chunk's text as full text reads it, under the number of the chunk's row."""

    number: int
    project: str
    text: str


def indexed_words(text: str) -> Counter[str]:
    """Return the words of a text that are indexed, with their counts."""
    return Counter(word for word in words(text) if len(word) <= _LONGEST_WORD)


def write_texts(connection: Connection, tables: SpaceTables, texts: Mapping[str, str]) -> None:
    """Insert or replace texts and their words; one that is there already costs little.

    No answer is waited for, so that it takes no round trip where the connection is in a pipeline.

    Args:
        connection: In a transaction that has written the chunks, and so holds their locks.
        texts: Text by the stored id of its chunk.
    """
    counted = [indexed_words(text) for text in texts.values()]
    given = {
        "ids": list(texts),
        "texts": list(map(readable, texts.values())),
        "lengths": [found.total() for found in counted],
    }
    connection.execute(tables.naming(_DELETE_REPLACED), {"ids": given["ids"], "texts": given["texts"]})
    # As one text each: a driver takes far longer over the elements of a list. No word has a space.
    written = {
        **given,
        "words": " ".join(chain.from_iterable(counted)),
        "places": "".join(f"{place} " * len(found) for place, found in enumerate(counted, 1)).rstrip(),
        "counts": " ".join(str(count) for found in counted for count in found.values()),
    }
    connection.execute(tables.naming(_WRITE_TEXTS), written)


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
