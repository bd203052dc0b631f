"""Word lists and character classes that the extraction rules share, from `name_words.toml`."""

import re
from itertools import groupby

from hydramem.ingest.extraction.statement_cues import verb_forms
from hydramem.text.lexicon import MONTHS, tables, word_set


def _capitals() -> str:
    """Return every capital letter of the Basic Multilingual Plane as a character class."""
    codes = [code for code in range(0x10000) if chr(code).isupper()]
    ranges = []
    for _, run in groupby(enumerate(codes), key=lambda pair: pair[1] - pair[0]):
        members = [code for _, code in run]
        ranges.append(f"\\u{members[0]:04x}-\\u{members[-1]:04x}")
    return f"[{''.join(ranges)}]"


UPPER = _capitals()
"""So that Ада and Élise are names as Ada is."""

_LISTS = tables("name_words")


def _words(name: str) -> frozenset[str]:
    return word_set("name_words", name)


def _alternatives(name: str) -> str:
    return "|".join(_LISTS[name].split())


PRONOUNS = _words("pronouns")
FIRST_PERSON = _words("first_person")
FUNCTION_WORDS = PRONOUNS | FIRST_PERSON | frozenset(MONTHS) | word_set("stop_words", "names_in_text")
EMPHASISED = word_set("stop_words", "names_in_capitals")
COMMON_STARTS = _words("common_starts")
HONORIFICS = _words("honorifics")
NOT_A_KIND = _words("not_a_kind")
GENERAL_HEADINGS = _words("general_headings")
PARTICLES = _alternatives("particles")
RANKS = _alternatives("ranks")
COMPUTING_WORDS = _words("computing_words")
PREFIXES = _words("prefixes")
SUFFIXES = _words("suffixes")
ORDERS = word_set("statement_cues", "orders")
DEMONYM = re.compile(r"(?:an|ish|ese|ean|ch|ian|ic|Dutch|Greek|Welsh|Swiss|Thai|Czech)$")
"""Adjectives of nations, by their endings."""
FURNITURE = frozenset(each.strip() for each in _LISTS["page_furniture"]["phrases"].split(","))
FINITE_VERBS = _words("past_verbs") | {
    form
    for words in tables("relation_verbs")["verbs"].values()
    if isinstance(words, str)
    for word in words.replace("~", " ").split()
    for form in verb_forms(word.partition("_")[0])
    if form.endswith(("s", "ed"))
}
"""Verbs before which a word that opens a sentence is a name."""
THINGS = _alternatives("things")
NOUN_TYPES: dict[str, str] = {
    noun: type for type, nouns in _LISTS["noun_types"].items() for noun in nouns.split()
}
