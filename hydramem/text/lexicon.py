"""Words of human language, read from `lang/*.toml`; each file or table names the modules that read it."""

import tomllib
from collections import Counter
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

_FOLDER = Path(__file__).parent / "lang"


@cache
def tables(file: str) -> Mapping[str, Any]:
    """Return the tables of `lang/<file>.toml` by name; they are read once, and shared."""
    with (_FOLDER / f"{file}.toml").open("rb") as stream:
        return tomllib.load(stream)


@cache
def word_set(file: str, table: str) -> frozenset[str]:
    """Return the words of a list: text with white space between them, by itself or as `words` of a table.

    Raises:
        ValueError: A word occurs twice.
    """
    listed = tables(file)[table]
    words = listed if isinstance(listed, str) else listed["words"]
    return frozenset(_once(words.split(), f"{file}.{table}"))


@cache
def word_rows(file: str, table: str) -> tuple[tuple[str, ...], ...]:
    """Return the rows of a table, each of words that mean the same.

    Raises:
        ValueError: A word occurs twice in the table.
    """
    rows = tuple(tuple(row.split()) for row in tables(file)[table]["rows"])
    _once((word for row in rows for word in row), f"{file}.{table}")
    return rows


def _once(words: Iterable[str], where: str) -> list[str]:
    listed = list(words)
    twice = sorted(word for word, times in Counter(listed).items() if times > 1)
    if twice:
        raise ValueError(f"hydramem/text/lang: {where}: more than once: {', '.join(twice)}")
    return listed


MONTHS = tuple(names[0] for names in word_rows("calendar", "months"))
"""The months in English, in lower case."""
