"""The full-text index of a LanceDB table: how it is made, and what can be asked of it."""

import random
import secrets
import string
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from hydramem.storage.lance.unindexed_text import IndexReads
from hydramem.text.search_terms import STOP_WORDS

if TYPE_CHECKING:
    from lancedb.query import MatchQuery

LanceTable = Any  # as in `table`
TEXT_INDEX = "text_idx"

# Longer words are not indexed; long enough for any hash in hex.
_MAX_WORD = 128

# Rows from which the counts of the index are estimated.
_SAMPLE = 2000


def make_text_index(table: LanceTable, *, anew: bool = False) -> None:
    """Make the full-text index of a table that has none, or `anew` in the place of the one it has."""
    from lancedb.index import FTS

    if not anew and table.index_stats(TEXT_INDEX) is not None:
        return
    # ICU finds words in scripts without spaces; "split" also cuts snake_case and dotted names.
    text = FTS(
        base_tokenizer="icu/split",
        language="English",
        max_token_length=_MAX_WORD,
        custom_stop_words=sorted(STOP_WORDS),
    )
    table.create_index("text", config=text, name=TEXT_INDEX)


def any_word(text: str) -> "MatchQuery":
    """Return the query for the rows that have any of the words of a text."""
    from lancedb.query import FullTextOperator, MatchQuery

    return MatchQuery(
        text,
        "text",
        operator=FullTextOperator.OR,
        boost=1.0,
        fuzziness=0,
        max_expansions=50,
        prefix_length=0,
        document_granularity=None,
    )


def index_reads(current: Callable[[], LanceTable]) -> IndexReads:
    """Return what the memory of unindexed rows asks of a table and its index.

    Args:
        current: Returns the table; it is opened anew from time to time.
    """

    def sample() -> tuple[int, Mapping[str, str]]:
        table = current()
        rows = int(table.count_rows())
        places = range(rows) if rows <= _SAMPLE else sorted(random.sample(range(rows), _SAMPLE))
        taken = table.take_offsets(list(places)).select(["id", "text"]).to_arrow()
        return rows, dict(zip(taken["id"].to_pylist(), taken["text"].to_pylist(), strict=True))

    def rows_with(token: str, limit: int) -> int:
        search = current().search(any_word(token)).fast_search().limit(limit)
        return int(search.select(["_score"]).with_row_id(True).to_arrow().num_rows)

    return IndexReads(tokens=lambda texts: index_tokens(current(), texts), sample=sample, rows_with=rows_with)


def index_tokens(table: LanceTable, texts: Sequence[str]) -> Sequence[Sequence[str]]:
    """Cut texts into tokens as the full-text index of a table does.

    Args:
        table: Has the index.
        texts: Unicode text without lone surrogates; at least one.
    """
    # One call costs as much as many short texts, so they are cut as one, with a word between them.
    between = "".join(secrets.choice(string.ascii_lowercase) for _ in range(24)) + "q"
    parts: list[list[str]] = [[]]
    for token in table.tokenize(f"\n{between}\n".join(texts), index_name=TEXT_INDEX):
        if token.text == between:
            parts.append([])
        else:
            parts[-1].append(token.text)
    if len(parts) != len(texts):
        raise ValueError(f"{len(texts)} texts were cut into {len(parts)}")
    return parts
