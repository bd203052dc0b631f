"""The word tables of these rules, in English, German and Spanish; what each is for stands beside its data."""

import tomllib
from collections.abc import Sequence
from importlib import resources
from typing import Any

_FILE = resources.files("hydramem") / "data" / "legacy_update_rules.toml"

_DATA: dict[str, Any] = tomllib.loads(_FILE.read_text(encoding="utf-8"))


def words(name: str, table: str = "words") -> frozenset[str]:
    """Return the words of a list."""
    listed: str = _DATA[table][name]
    return frozenset(listed.split())


def values(name: str) -> dict[str, str]:
    """Return each word of a table with its value.

    Raises:
        ValueError: A word has two values.
    """
    found: dict[str, str] = {}
    for value, listed in _DATA["values"][name].items():
        for word in listed.split():
            if word in found:
                raise ValueError(f"{name}: {word!r} has the values {found[word]!r} and {value!r}")
            found[word] = value
    return found


def exact(name: str) -> dict[str, str]:
    """Return a table as it is written: each word with what it becomes."""
    return dict(_DATA["exact"][name])


def _phrases(listed: Sequence[str]) -> tuple[tuple[str, ...], ...]:
    """Return phrases, longest first: words in one spelling, and no articles."""
    split = ([word for word in phrase.split() if word not in ARTICLES] for phrase in listed)
    found = (tuple(SAME_WORDS.get(word, word) for word in phrase) for phrase in split)
    return tuple(sorted(filter(None, found), key=len, reverse=True))


ARTICLES = words("articles", "contrast_words") | words("indefinite", "contrast_words")

RECURRING = words("recurring")
TITLES = words("titles")
FORTNIGHTLY = words("fortnightly")
EACH = words("each")
MOVABLE = words("movable")
ON_DAYS = words("on_days")
ENGLISH_WHEN = words("english_when")
TIMES = words("times")
RATES = words("rates")
GERMAN_ARTICLES = words("german_articles")
SPANISH_ARTICLES = words("spanish_articles")
PARTICIPLES = words("participles")
OWNERS = words("owners")
PRONOUNS = words("pronouns")
PAST_COPULAS = words("past_copulas")
ROLES = words("roles")
LASTING = words("lasting")
NOUNS_TOO = words("nouns_too")
AUXILIARIES = words("auxiliaries")
PLACING = words("placing")
KEEPING = words("keeping")
REPLACING = words("replacing")
DROPPING = words("dropping")
NEGATIONS = words("negations")
DOSES = words("doses")
PRICES = words("prices")
PRESENT = words("present")
NEW = words("new")
HEADINGS = words("headings")
UNSURE = words("unsure")
JOINING = words("joining")
SCHEDULED = words("scheduled")
VEHICLES = words("vehicles")
PLACED = words("placed")
DEFINITES = words("definites")
INDEFINITES = words("indefinites")
HAS_MANY = words("has_many")
SEVERAL = words("several")
MEETING = words("meeting")
ACQUIRED = words("acquired")
CHOSEN = words("chosen")
PERMANENT = words("permanent")
FREE = words("free")
ATTRIBUTES = words("attributes")

SAME_WORDS = values("same_words")
UNITS = values("units")
FREQUENCIES = values("frequencies")
ORDINALS = values("ordinals")
SPEAKER = values("speaker")
VERBS = values("verbs")
PAST_VERBS = values("past_verbs")
FIRST_PERSON = values("first_person")
CHANGES = values("changes")
PREPOSITIONS = values("prepositions")
STATES = values("states")
CLASSES = values("classes")
MONTHS = values("months")
MONTH_NUMBERS = MONTHS | values("short_months")
WEEKDAYS = values("weekdays")
WEEKDAY_NUMBERS = WEEKDAYS | values("other_weekdays")
NUMBERS = values("numbers")
HIGHER_NUMBERS = values("higher_numbers")

CONTRACTIONS = exact("contractions")
ENDINGS = exact("endings")
CURRENCIES = exact("currencies")
OFTEN = exact("often")
SAID_TWICE = exact("said_twice")
GETS = exact("gets")

TAKING_OVER = _phrases(_DATA["phrases"]["taking_over"])
ENDED = _phrases(_DATA["phrases"]["ended"])
NOW = _phrases(_DATA["phrases"]["now"])
INSTEAD = _phrases(_DATA["phrases"]["instead"])
ARRIVED = _phrases(_DATA["phrases"]["arrived"])
AGAIN = _phrases(_DATA["phrases"]["again"])
REPLACED_AFTER = _phrases(_DATA["phrases"]["replaced_after"])
LATER = _phrases(_DATA["phrases"]["later"])
OPENING = _phrases(_DATA["phrases"]["opening"])
CORRECTING = _phrases(_DATA["phrases"]["correcting"])
FILLERS = _phrases(_DATA["phrases"]["fillers"])
INTENDING = _phrases(_DATA["phrases"]["intending"])
REWORDED = tuple((phrase, form) for form, listed in _DATA["reworded"].items() for phrase in _phrases(listed))
ONE_OTHER = frozenset((verb, role) for role, verbs in _DATA["one_other"].items() for verb in verbs.split())
