"""Tells what a sentence states from what it supposes, asks, denies, doubts, plans or orders.

Cheap cues of English on the surface of the text, from `statement_cues.toml`: where one may apply, nothing is
stated.
"""

import re
from collections.abc import Iterable, Mapping
from typing import Any

from hydramem.text.lexicon import tables, word_set

_TABLES = tables("statement_cues")
_NAMES_TOO = frozenset(tables("question_words")["openings"]["names_too"].split())

_PAST = re.compile(
    r"\b(?:was|were|had|been|[a-z]+ed|born|led|won|wrote|written|met|took|ran|built|chose|kept|bought|sold|made|became"
    r"|went|came|left|began|got|held|found|grew|gave|knew|taught)\b"
)
_FIRST = re.compile(r"\W*[\w-]+")
_QUESTION = re.compile(r"\?[\"'”’»)\]*_\s]*$")
_OPENING = re.compile(r"[\s\"“'(\[*_>#•–-]*(?:\d+[.)]\s+)?([\w’']+)(?:[,:]?\s+([\w’']+))?")
_LABEL = re.compile(r"[\s\"“'(\[*_>#•–-]*+(\w++)(?:\s++\w++)?\s*+[*_]*+:[*_]*+\s+")
_SUBCLAUSE = re.compile(r"[;]|\b(?:but|however|although|though|whereas|instead)\b")
_INFINITIVE = re.compile(r"(?:(?<![\w’'])([\w’']++)\s++)?\bto\s+(?:\w+ly\s+)?$", re.IGNORECASE)
_QUOTES = re.compile(r"[\"“”„«»]")


def verb_forms(verb: str) -> set[str]:
    """Return a regular English verb in its four forms."""
    if verb.endswith("e"):
        return {verb, f"{verb}s", f"{verb}d", f"{verb[:-1]}ing"}
    if verb.endswith("y") and verb[-2] not in "aeiou":
        return {verb, f"{verb[:-1]}ies", f"{verb[:-1]}ied", f"{verb}ing"}
    third = f"{verb}es" if verb.endswith(("s", "sh", "ch", "x", "ss")) else f"{verb}s"
    return {verb, third, f"{verb}ed", f"{verb}ing", f"{verb}{verb[-1]}ed", f"{verb}{verb[-1]}ing"}


_IRREGULAR = {"think": "thought", "seek": "sought", "forget": "forgot", "forbid": "forbade"}


def _listed(table: Mapping[str, Any]) -> list[str]:
    phrases = [phrase.strip() for phrase in table.get("phrases", "").split(",") if phrase.strip()]
    verbs = {form for verb in table.get("verbs", "").split() for form in verb_forms(verb)}
    past = {_IRREGULAR[verb] for verb in table.get("verbs", "").split() if verb in _IRREGULAR}
    return sorted({*table.get("words", "").split(), *phrases, *verbs, *past}, key=len, reverse=True)


def _pattern(expressions: Iterable[str]) -> re.Pattern[str]:
    escaped = (re.escape(each).replace("'", "[’']").replace(r"\ ", r"\s+") for each in expressions)
    return re.compile(rf"(?<![\w-])(?:{'|'.join(escaped)})(?![\w-])", re.IGNORECASE)


_SENTENCE = _pattern(_listed(_TABLES["sentence"]))
_CLAUSE = _pattern(_listed(_TABLES["clause"]))
_CONTRACTED = re.compile(r"n[’']t\b|[’']ll\b", re.IGNORECASE)
_MODAL_OR_NAME = re.compile(rf"\b(?:{'|'.join(sorted(_NAMES_TOO))})\b")
_SOUGHT = _pattern(_listed(_TABLES["sought"]))
_ASIDE = _pattern(_listed(_TABLES["aside"]))
_WHEN = _pattern(_listed(_TABLES["when"]))
_QUESTIONS = word_set("question_words", "openings")
_ORDERS, _LABELS, _DONE = (word_set("statement_cues", name) for name in ("orders", "labels", "done"))
_SAY_THAT = frozenset(_TABLES["orders"]["that"].split())
_TAKEN_BACK = {key: "|".join(_TABLES["retractions"][key].split()) for key in ("openings", "words")}
_RETRACTION = re.compile(
    r"\s*(?:(?:{openings})(?:\s+(?:claim|statement|information|story|page))?(?:[’']s|\s+(?:is|was))\s+(?:\w+\s+)?"
    r"(?:not\s+(?:true|so|right|correct|the\s+case)|{words})\b"
    r"|(?:just\s+)?(?:not\s+(?:true|so)|{words})\s*(?:[.,!;]|that\b|$))".format(**_TAKEN_BACK),
    re.IGNORECASE,
)


def is_stated(text: str, start: int, end: int, at: int) -> bool:
    """Say whether a sentence states what it says from a place on.

    Args:
        text: The text.
        start, end: The sentence in it.
        at: Where the words that say it begin.
    """
    sentence, before = text[start:end], text[start:at]
    if _QUESTION.search(sentence) or _SENTENCE.search(sentence) or _RETRACTION.match(text, end):
        return False
    verb = _FIRST.match(text, at, end)
    past = _PAST.search(text, max(start, at - 12), verb.end() if verb else at) is not None
    if _opens_unstated(sentence, past=past) or _is_sought(before, past=past):
        return False
    return len(_QUOTES.findall(before)) % 2 == 0


def _opens_unstated(sentence: str, *, past: bool) -> bool:
    """Say whether the first word of a sentence makes it a question, an order or a plan."""
    label = _LABEL.match(sentence)
    if label is not None:
        if label.group(1).casefold() in _LABELS:
            return True
        sentence = sentence[label.end() :]
    opening = _OPENING.match(sentence)
    if opening is None:
        return False
    first = opening.group(1).casefold().replace("’", "'")
    if first in _QUESTIONS or (first in _NAMES_TOO and not past):
        return True
    second = (opening.group(2) or "").casefold()
    if first == "please" or (first in _SAY_THAT and second == "that"):
        return second not in _SAY_THAT and second != "that"
    return first in _ORDERS


def _is_sought(before: str, *, past: bool) -> bool:
    """Say whether what stands before a statement denies it, or has it wanted, planned or left out."""
    if _SOUGHT.search(before) or (not past and _WHEN.search(before)):
        return True
    if any("," not in before[aside.end() :] for aside in _ASIDE.finditer(before)):
        return True
    clause = _SUBCLAUSE.split(before)[-1]
    if any(cue.search(clause) for cue in (_CLAUSE, _CONTRACTED, _MODAL_OR_NAME)):
        return True
    infinitive = _INFINITIVE.search(before)
    return infinitive is not None and (infinitive.group(1) or "").casefold() not in _DONE
