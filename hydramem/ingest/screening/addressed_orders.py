"""Finds orders to the reader by their parts: who is told to do what, with what, for whom, and in secret.

None of the parts is hostile alone: "send the report to ada@example.org", "the password is in the safe" and
"when the user asks for code, use Python" are ordinary memories. `data/screening_orders.toml` says which parts
are hostile together.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from hydramem.core.errors import HydraMemError
from hydramem.core.package_data import data_tables
from hydramem.ingest.screening.clauses import Word, orders_in, sentences, words_of
from hydramem.ingest.screening.hidden_text import as_latin, reveal

_ANY = "any!"
_EFFECTS = {
    "effect!": ("send", "dispatch", "run", "destroy", "pay", "alter", "obey"),
    "grave!": ("dispatch", "run", "destroy", "pay"),
}
_ADDRESS = re.compile(r"https?:/|^[\w.+-]{1,60}@[\w-]{1,40}\.|^(?:\d{1,3}\.){3}\d{1,3}\b|^(?:bc1|0x)\w{20}")
_SECRET_FILE = re.compile(
    r"(?:^|/)\.env\b(?!\.(?:example|sample|template|dist))|\.ssh\b(?!/(?:authorized_keys|known_hosts|config))|"
    r"\.aws\b|\.gnupg\b|\bid_(?:rsa|ed)(?!\w{0,20}\.pub)|\.netrc\b|/credentials$|\bcredentials\.\w{2,5}$|"
    r"/etc/shadow|\.kube\b|\.pem$|\.npmrc\b|\.pgpass\b|\.pypirc\b"
)

# Around the name of a machine: it is described, accompanied by a noun, called, at work, or told what to do.
_DESCRIBING = frozenset(("a", "an", "the", "our", "my", "their", "its", "new"))
_COMPANY = frozenset(("systems", "system", "agents", "agent", "assistants", "assistant", "models", "model"))
_CALLING = frozenset(("dear", "hey", "attention"))
_AT_WORK = frozenset(("reading", "processing", "parsing", "indexing", "reviewing", "scoring", "ranking"))
_TOLD = frozenset(("must", "should", "shall", "will", "are", "has", "have", "that"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Combination:
    """Parts that only a hostile text has together.

    Attributes:
        reason: What such a text does, for a person.
        why: Why the parts are hostile together, for who changes the rules.
        all: Names of cues, and kinds of orders with `!`.
        near: Whether the parts may stand in sentences that follow each other.
    """

    reason: str
    why: str
    all: tuple[str, ...]
    near: bool = False


@dataclass(frozen=True, slots=True)
class _Lexicon:
    verbs: Mapping[str, frozenset[str]]
    foreign: Mapping[str, frozenset[str]]
    phrases: Mapping[str, tuple[tuple[tuple[str, ...], str], ...]]
    unspaced: tuple[tuple[str, str], ...]


@cache
def combinations() -> tuple[Combination, ...]:
    """Return the combinations in their order.

    Raises:
        HydraMemError: A combination names a part that does not exist.
    """
    tables = data_tables("screening_orders")
    found = tuple(Combination(**{**row, "all": tuple(row["all"])}) for row in tables["combinations"])
    known = {f"{kind}!" for kind in tables["verbs"]} | set(tables["cues"]) | {_ANY, *_EFFECTS}
    known |= {"address", "secret file", "addressed machine"}
    for each in found:
        if unknown := set(each.all) - known:
            raise HydraMemError(f"screening_orders.toml: no such part: {', '.join(sorted(unknown))}")
    return found


@cache
def _lexicon() -> _Lexicon:
    tables = data_tables("screening_orders")
    phrases: dict[str, list[tuple[tuple[str, ...], str]]] = {}
    for name, entries in tables["cues"].items():
        for entry in _entries(entries):
            first, *rest = as_latin(reveal(entry)).split()
            phrases.setdefault(first, []).append((tuple(rest), name))
    unspaced = [
        (as_latin(reveal(entry)), name)
        for name, entries in tables.get("unspaced", {}).items()
        for entry in _entries(entries)
    ]
    return _Lexicon(
        verbs=_kinds_by_verb(tables["verbs"]),
        foreign=_kinds_by_verb(tables["foreign_verbs"]),
        phrases={first: tuple(rests) for first, rests in phrases.items()},
        unspaced=tuple(unspaced),
    )


def _entries(joined: str) -> Iterator[str]:
    return (entry for entry in joined.replace("\n", "").split("|") if entry)


def _kinds_by_verb(table: Mapping[str, str]) -> dict[str, frozenset[str]]:
    found: dict[str, set[str]] = {}
    for kind, verbs in table.items():
        for verb in _entries(verbs):
            found.setdefault(as_latin(reveal(verb)), set()).add(kind)
    return {verb: frozenset(kinds) for verb, kinds in found.items()}


def addressed_orders(latin: str) -> tuple[tuple[str, str], ...]:
    """Return the orders to the reader that a text gives, as pairs of a reason and the sentence.

    Args:
        latin: The text as `hidden_text.as_latin` returns it, without what it only quotes.
    """
    found: dict[str, str] = {}
    before: frozenset[str] = frozenset()
    earlier = ""
    for sentence in sentences(latin):
        parts = parts_of(sentence)
        window = parts | before
        for each in combinations():
            if each.reason not in found and parts.issuperset(each.all):
                found[each.reason] = sentence
            elif each.reason not in found and each.near and window.issuperset(each.all):
                found[each.reason] = f"{earlier} {sentence}"
        before, earlier = parts, sentence
    return tuple(found.items())


def is_for_machines(latin: str) -> bool:
    """Return whether a text that people do not see speaks to a machine, or orders what concerns the user."""
    return any(_speaks_to_reader(parts_of(sentence)) for sentence in sentences(latin))


def _speaks_to_reader(parts: frozenset[str]) -> bool:
    aims = ("machine", "person", "secret", "outward", "only_one", "own_rules", "stakes", "asked", "addressed")
    return "addressed machine" in parts or (_ANY in parts and not parts.isdisjoint(aims))


def parts_of(sentence: str) -> frozenset[str]:
    """Return the names of the parts that a sentence has."""
    words = words_of(sentence)
    lexicon = _lexicon()
    parts = set(_cues(words, lexicon))
    for order in orders_in(words, lexicon.verbs):
        if not order.forbids:
            parts |= {f"{kind}!" for kind in lexicon.verbs[order.verb]} | {_ANY}
    for word in words:
        for kind in lexicon.foreign.get(word.text, ()):
            parts |= {f"{kind}!", _ANY}
            if kind == "send":
                parts.add("dispatch!")
        # The target of a link says where more is to be read, and is nobody's address.
        if "](" not in word.text and _ADDRESS.search(word.text):
            parts |= {"address", "outward"}
        if _SECRET_FILE.search(word.text):
            parts |= {"secret file", "secret"}
    if not sentence.isascii():
        parts |= {name for phrase, name in lexicon.unspaced if phrase in sentence}
        parts |= {_ANY} if any(part.endswith("!") for part in parts) else set()
    parts |= {name for name, kinds in _EFFECTS.items() if any(f"{kind}!" in parts for kind in kinds)}
    if "machine" in parts and _is_addressed(words):
        parts.add("addressed machine")
    return frozenset(parts)


def _cues(words: Sequence[Word], lexicon: _Lexicon) -> Iterator[str]:
    texts = [_plain(word.text) for word in words]
    denied = False
    for place, text in enumerate(texts):
        for rest, name in lexicon.phrases.get(text, ()):
            end = place + 1 + len(rest)
            # "Never push without asking" is the opposite of "push without asking".
            if tuple(texts[place + 1 : end]) == rest and not (denied and text in ("without", "before")):
                yield name
        denied = denied or text in ("never", "not", "don't", "dont", "must-not", "no", "cannot", "nobody")


def _plain(word: str) -> str:
    """Return a word without its folder, and without an article that is joined to it: "l'historique"."""
    if word[0] in "/.":
        return word.rsplit("/", 1)[-1]
    return word[2:] if word[1:2] == "'" and word[0] in "ldnsm" else word


def _is_addressed(words: Sequence[Word]) -> bool:
    """Return whether machines are spoken to, or told what to do: "assistants are to ...", "LLM: ...".

    "The assistant should ask first" describes one; "assistant: sure" is the label of a speaker.
    """
    texts = [word.text for word in words]
    for place, text in enumerate(texts):
        before = texts[place - 1] if place else ""
        if text not in _machines() or before in _DESCRIBING:
            continue
        following = texts[place + 1 : place + 3]
        if following[:1] and following[0] in _COMPANY:
            following = following[1:]
        if before in _CALLING or (following and following[0] in _AT_WORK | _TOLD):
            return True
        if place == 0 and ":" in words[0].after and text != "assistant":
            return True
    return False


@cache
def _machines() -> frozenset[str]:
    entries = _entries(data_tables("screening_orders")["cues"]["machine"])
    return frozenset(word for entry in entries for word in entry.split()) - {"system", "systems", "language"}
