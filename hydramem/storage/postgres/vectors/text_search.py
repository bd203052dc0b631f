"""Full text by BM25 in SQL, over the words that `text_rows` writes, in bounded work.

Rare words find the candidates, as they decide who is first; common ones are then looked up in those that they
could still lift (Turtle and Flood, "Query Evaluation: Strategies and Optimizations", 1995). Where that is not
proven to find the best rows, every word finds candidates.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from psycopg import sql

from hydramem.storage import bm25
from hydramem.storage.cached_rows.word_index import TextStatistics
from hydramem.storage.postgres.connection import Connection
from hydramem.storage.postgres.vectors.vector_schema import SpaceTables
from hydramem.storage.vector_rows import Scored, best_first

# Rows that rare words may have together at the first and the second attempt, and rows of one word that are
# read at most, the newest first.
_FEW_ROWS = (8000, 30_000)
_MOST_ROWS = 50_000

# Candidates that are tested against the filter, the best first: at least so many, so many for each wanted.
_FEW_TAKEN = 400
_TAKEN_OF_LIMIT = 10

_STATISTICS = """
    select null::text, coalesce(sum(rows), 0)::bigint, coalesce(sum(words), 0)::bigint from {text_counts}
    union all
    select asked.word,
           coalesce(counted.rows, (select count(*) from {postings} p where p.word = asked.word)),
           (counted.rows is not null)::integer
    from unnest(%s::text[]) as asked (word)
    left join lateral (
        select sum(rows)::bigint as rows from {frequent_words} f where f.word = asked.word
    ) as counted on true
"""

# Of double precision throughout: a constant alone is numeric, whose arithmetic is many times slower.
_SCORE = (
    f"p.count * {bm25.K1 + 1.0}::float8 / (p.count + {bm25.K1}::float8 *"
    f" ({1.0 - bm25.B}::float8 + {bm25.B}::float8 * p.length / %(mean)s::float8))"
)

_SEARCH = f"""
    with hits as (
        select p.number, sum(asked.weight * {_SCORE}) as score
        from unnest(%(rare)s::text[], %(rare_weights)s::float8[]) as asked (word, weight)
        cross join lateral (
            select p.number, p.count, p.length from {{postings}} p
            where p.word = asked.word and {{visible}} order by p.number desc limit {_MOST_ROWS}
        ) as p
        group by p.number
    ), best as materialized (
        select * from hits order by score desc limit {{taken}}
    ), admitted as materialized (
        select c.id, c.number, best.score from best join {{chunks}} c on c.number = best.number
        where {{condition}}
    ), nearly as (
        select * from admitted where score + %(bound)s >= coalesce(
            (select score from admitted order by score desc offset {{limit}} - 1 limit 1), 0)
    )
    select nearly.id, nearly.score + coalesce(added.score, 0) as total,
           (select case when count(*) = {{taken}} then min(score) else 0 end from best)
    from nearly left join lateral (
        select sum(asked.weight * {_SCORE}) as score
        from unnest(%(common)s::text[], %(common_weights)s::float8[]) as asked (word, weight)
        join {{postings}} p on p.word = asked.word and p.number = nearly.number
    ) as added on true
    order by total desc, nearly.id limit {{limit}}
"""


def text_statistics(connection: Connection, tables: SpaceTables, asked: Sequence[str]) -> TextStatistics:
    """Return the statistics of all rows that the connection may see; those of frequent words are scaled."""
    found = connection.execute(tables.naming(_STATISTICS), [[*asked, ""]]).fetchall()
    _, rows, length = next(row for row in found if row[0] is None)
    counted = {word: (holding, bool(frequent)) for word, holding, frequent in found if word is not None}
    rows_then = counted.pop("", (0, False))[0]
    growth = rows / rows_then if rows_then else 1.0
    holding = {
        word: min(rows, round(holding * growth)) if frequent else holding
        for word, (holding, frequent) in counted.items()
    }
    return TextStatistics(rows=rows, length=length, holding=holding)


def best_matches(
    connection: Connection, tables: SpaceTables, asked: Counter[str], condition: str,
    values: Mapping[str, Any], limit: int,
) -> tuple[Scored, ...]:  # fmt: skip
    """Return the ids of the chunks that match words best by BM25 among those that a condition admits.

    Args:
        asked: Words of the query, with their counts.
        condition: On the chunk `c`, with its parameters in `values` (`chunk_conditions`).
        limit: At least 1.
    """
    known = text_statistics(connection, tables, list(asked))
    present = sorted((word for word in asked if known.holding[word]), key=lambda word: known.holding[word])
    if not present:
        return ()
    weights = {word: asked[word] * bm25.rarity(known.holding[word], known.rows) for word in present}
    names = {
        "visible": sql.SQL("p.project = any(%(project)s::text[])" if "project" in values else "true"),
        "condition": sql.SQL(condition),
        "limit": sql.Literal(limit),
    }
    given = {**values, "mean": known.length / max(1, known.rows)}
    for rare, taken in _attempts(present, known.holding, limit):
        search = tables.naming(_SEARCH, taken=sql.Literal(taken), **names)
        bound = sum(weights[word] for word in present[rare:]) * (bm25.K1 + 1.0)
        parts = _split(present, weights, rare)
        found = connection.execute(search, {**given, **parts, "bound": bound}).fetchall()
        # A row that was not looked at has at most the score of the last one taken, and all common words.
        if len(found) >= limit and found[-1][1] >= found[-1][2] + bound:
            break
    return best_first((row[0] for row in found), (row[1] for row in found), limit)


def _attempts(
    present: Sequence[str], holding: Mapping[str, int], limit: int
) -> Iterator[tuple[int, int | None]]:
    """Yield how many words find candidates, and how many of those are looked at; the last is exact."""
    some = max(_FEW_TAKEN, _TAKEN_OF_LIMIT * limit)
    for rows in _FEW_ROWS:
        if (rare := _rare_words(present, holding, rows)) < len(present):
            yield rare, some
    yield len(present), some
    yield len(present), None


def _rare_words(present: Sequence[str], holding: Mapping[str, int], most: int) -> int:
    """Return how many of the words, rarest first, have at most so many rows together; at least one."""
    together = 0
    for number, word in enumerate(present):
        together += holding[word]
        if together > most:
            return max(1, number)
    return len(present)


def _split(present: Sequence[str], weights: Mapping[str, float], rare: int) -> dict[str, Any]:
    words = {"rare": list(present[:rare]), "common": list(present[rare:])}
    return {**words, **{f"{kind}_weights": [weights[word] for word in part] for kind, part in words.items()}}
