"""The word tables of these rules, in English, German and Spanish; the data file describes each table."""

from collections.abc import Mapping, Sequence

from hydramem.text.lexicon import tables

_TABLES = tables("legacy_update_rules")


def _word_sets(table: str) -> dict[str, frozenset[str]]:
    return {name: frozenset(listed.split()) for name, listed in _TABLES[table].items()}


def _by_word(name: str, listed: Mapping[str, str]) -> dict[str, str]:
    """Return each word of a table with its value.

    Raises:
        ValueError: A word has two values.
    """
    found: dict[str, str] = {}
    for value, words in listed.items():
        for word in words.split():
            if word in found:
                raise ValueError(f"{name}: {word!r} has the values {found[word]!r} and {value!r}")
            found[word] = value
    return found


WORDS = _word_sets("words")
"""Lists of words, by name."""

CONTRAST_WORDS = _word_sets("contrast_words")
"""Lists of words for the comparison of sentences by their frames."""

ARTICLES = CONTRAST_WORDS["articles"] | CONTRAST_WORDS["indefinite"]

VALUES: dict[str, dict[str, str]] = {
    **{name: _by_word(name, listed) for name, listed in _TABLES["values"].items()},
    **_TABLES["exact"],
}
"""Tables of words with their values, by name."""

VALUES |= {
    "month_numbers": VALUES["months"] | VALUES["short_months"],
    "weekday_numbers": VALUES["weekdays"] | VALUES["other_weekdays"],
}


def _phrases(listed: Sequence[str]) -> tuple[tuple[str, ...], ...]:
    """Return phrases, longest first: words in one spelling, and no articles."""
    split = ([word for word in phrase.split() if word not in ARTICLES] for phrase in listed)
    found = (tuple(VALUES["same_words"].get(word, word) for word in phrase) for phrase in split)
    return tuple(sorted(filter(None, found), key=len, reverse=True))


PHRASES = {name: _phrases(listed) for name, listed in _TABLES["phrases"].items()}
"""Lists of phrases, by name."""

REWORDED = tuple(
    (phrase, form) for form, listed in _TABLES["reworded"].items() for phrase in _phrases(listed)
)
"""Phrases that are one verb, and that verb."""

ONE_OTHER = frozenset((verb, role) for role, verbs in _TABLES["one_other"].items() for verb in verbs.split())
"""Verbs and prepositions behind which there is one at a time."""
