"""Explicit words: a new text that names the old value and ends it, such as "moved from X to Y". Pure.

Four forms of English count: "from X to Y" after a verb of change, "Y instead of X" and its kin, "no longer
X", and the old sentence again with "now" and another value at its end. The subject must be the same in both,
and nothing else that the old text tells may end with it: the rest is left to a model or a person.
"""

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from hydramem.ingest.extraction.statement_cues import is_stated
from hydramem.text.lexicon import word_set
from hydramem.text.search_terms import words as stems
from hydramem.text.sentences import sentence_spans

_CHANGE_VERBS = word_set("ending_words", "change_verbs")
_ENDING_VERBS = word_set("ending_words", "ending_verbs")
_PRESENT = word_set("ending_words", "present")
_CHANGES = _CHANGE_VERBS | _ENDING_VERBS | _PRESENT | word_set("ending_words", "around_values")
_SELF_WORDS = word_set("ending_words", "self")
_POSSESSIVES = word_set("ending_words", "possessives")
_SPEECH_VERBS = word_set("ending_words", "speech_verbs")
_LABELS = word_set("ending_words", "labels")


def _any_of(words: Collection[str]) -> str:
    return "|".join(sorted(map(re.escape, words), key=len, reverse=True))


_SELF = "(self)"
_TOKEN = re.compile(r"[^\W_](?:[\w.:/@+#%'’-]*[\w+#%])?")
_TIME = re.compile(r"\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d)?)?|\d{1,2} [A-Z][a-z]{2,8} \d{4}")
_LEADS = (
    re.compile(r"^(?:[-*+•>]|\d{1,3}[.)]|#+|\[[ xX]?\])\s+"),
    re.compile(rf"^[\[(]?(?:{_TIME.pattern})[\])]?\s*(?:[:,–-]\s*)?"),
    re.compile(rf"^(?:{_any_of(_LABELS)})(?: to self)?\s*:\s+", re.IGNORECASE),
    re.compile(
        r"^(?:the |my |our )?[\w.'-]{1,30}(?: [\w.'-]{1,30})? (?:just |also |has |have )?"
        rf"(?:{_any_of(_SPEECH_VERBS)})(?: me| us)?(?: that\b|:|,)?\s+(?=\S)",
        re.IGNORECASE,
    ),
    re.compile(r"^(?:according to|as|per) [^,.;]{2,40},\s+", re.IGNORECASE),
)
_TAILS = (
    re.compile(r"(?<!\s)\s*+[(\[][^()\[\]]{1,60}[)\]]\s*$"),
    re.compile(r",?\s(?:because|since|due to|so that|in order to)\s[^.;]{1,200}$", re.IGNORECASE),
)
_MOST_CHARS = 400
_MOST_LEFT = 2
_AFTER_VERB = 4
_LEAST_STEMS = 2
_NEW_BEFORE = re.compile(r"(?<!\S)\S++(?: \S++)?\s*$")
_MOST_VALUE = 5
# A value ends where what follows says where, when or why.
_VALUE = r"[^.,;]{1,60}?"
_END = r"(?=\s(?:in|for|on|at|as|since|from|by|with|and|but|because|when|after|before)\b|[.,;]|$)"
_FROM_TO = re.compile(
    rf"\bfrom (?P<old>{_VALUE}) (?:over |across )?(?:to|onto|into) (?P<new>{_VALUE}){_END}", re.IGNORECASE
)
_INSTEAD = re.compile(
    rf"\b(?:instead of|rather than|in place of|in lieu of|replacing) (?P<old>{_VALUE}){_END}", re.IGNORECASE
)
_REPLACED = (
    re.compile(
        rf"\b(?:replaced|swapped|exchanged|traded|ditched|dropped) (?P<old>{_VALUE}) "
        rf"(?:with|by|for|in favou?r of) (?P<new>{_VALUE}){_END}",
        re.IGNORECASE,
    ),
    re.compile(
        rf"(?P<old>\S{_VALUE}) (?:was|were|has been|have been|got|is|are) (?:\w+ )?"
        rf"(?:replaced|superseded) (?:with|by) (?P<new>{_VALUE}){_END}",
        re.IGNORECASE,
    ),
)
_NO_LONGER = re.compile(
    r"\b(?:not|isn't|aren't|wasn't|doesn't|don't|cannot|can't) (?P<rest>[^.;]{1,120}?) "
    r"(?:any ?more|any longer)\b"
    r"|\b(?:is|are|was|were|has|have|does|do)?\s?\bno longer (?P<after>[^.;]{1,120})"
    rf"|\b(?:{_any_of(_ENDING_VERBS)}|gave up|given up) (?P<verb>[^.;]{{1,120}})",
    re.I,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Statement:
    """One sentence without what surrounds it.

    Attributes:
        tokens: Its words in lower case, in order; those that stand for the user are one.
        names: Stems of its words that may be names or numbers.
    """

    text: str
    tokens: tuple[str, ...]
    names: frozenset[str]


def explicit_end(new: str, old: str) -> str | None:
    """Return a sentence on how the words of a new text end an old one; None where they do not.

    Args:
        new: The text that is told now.
        old: The text that was told before.
    """
    if max(len(new), len(old)) > _MOST_CHARS:
        return None
    ended = list(_statements(old))
    if len(ended) != 1:
        return None
    for statement in _statements(new):
        found = _end(statement, ended[0])
        if found is not None:
            return found
    return None


def bare(text: str) -> str:
    """Return a text without the bullets, dates, labels, speakers, remarks and reasons around it."""
    found = text.strip().strip("*_").strip()
    for _ in range(3):
        before = found
        for lead in _LEADS:
            found = lead.sub("", found, count=1)
        for tail in _TAILS:
            ended = found.endswith(".")
            found = tail.sub("", found.rstrip(". "), count=1) + ("." if ended else "")
        if found == before or not found.strip(" ."):
            break
    return found if found.strip(" .") else text


def _statements(text: str) -> Iterator[_Statement]:
    plain = bare(text)
    for start, end in sentence_spans(plain):
        sentence = bare(plain[start:end]).strip().rstrip(".!")
        if sentence and not sentence.endswith("?"):
            tokens = _tokens(sentence)
            yield _Statement(text=sentence, tokens=tuple(map(_plain, tokens)), names=_names(tokens))


def _tokens(text: str) -> list[str]:
    return [match.group() for match in _TOKEN.finditer(text)]


def _plain(token: str) -> str:
    lower = token.casefold()
    return _SELF if lower in _SELF_WORDS else lower


def _names(tokens: Sequence[str]) -> frozenset[str]:
    """Return the stems of the words that may be names or numbers, by a capital, a digit or a hyphen."""
    named = (
        token
        for token in tokens
        if token[0].isupper() or any(map(str.isdigit, token)) or "_" in token or "-" in token
    )
    found = {stem for token in named if _plain(token) != _SELF for stem in stems(token)}
    return frozenset(found)


def _end(new: _Statement, old: _Statement) -> str | None:
    if len(set(stems(old.text))) < _LEAST_STEMS:
        return None
    for left in _values_left(new.text):
        if _names_value(left, old) and _same_subject(new, old, left) and _states(new.text, left.start):
            return f"It says that {left.value.strip()!r} was left."
    for match in _NO_LONGER.finditer(new.text):
        if _denies(match, new, old) and _states(new.text[: match.start()] + _denied(match), match.start()):
            return f"It says {match.group().strip()[:60]!r}."
    if _now_other(new, old) and _states(new.text, 0):
        return "It says the same with another value, now."
    return None


def _states(sentence: str, at: int) -> bool:
    """Say whether a sentence states what it says from a place on, and supposes, asks or plans nothing."""
    return is_stated(sentence, 0, len(sentence), at)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Left:
    """A value that a text says was left, and what came in its place.

    Attributes:
        start, end: Where the text says so.
    """

    value: str
    follows: str
    start: int
    end: int

    @property
    def stems(self) -> frozenset[str]:
        """Stems of both."""
        return frozenset((*stems(self.value), *stems(self.follows)))


def _values_left(text: str) -> Iterator[_Left]:
    for match in _FROM_TO.finditer(text):
        if _changes(text[: match.start()]):
            yield _Left(value=match["old"], follows=match["new"], start=match.start(), end=match.end())
    for match in _INSTEAD.finditer(text):
        came = _NEW_BEFORE.search(text[: match.start()])
        start = match.start() if came is None else came.start()
        follows = "" if came is None else came.group()
        yield _Left(value=match["old"], follows=follows, start=start, end=match.end())
    for form in _REPLACED:
        for match in form.finditer(text):
            yield _Left(value=match["old"], follows=match["new"], start=match.start(), end=match.end())


def _changes(before: str) -> bool:
    """Say whether the last words before "from" are a verb of change, with little after it."""
    return any(token.casefold() in _CHANGE_VERBS for token in _tokens(before)[-_AFTER_VERB:])


def _names_value(left: _Left, old: _Statement) -> bool:
    """Say whether the old text has the value that is left, and not the one that follows it."""
    gone, come, held = set(stems(left.value)), set(stems(left.follows)), set(stems(old.text))
    return bool(gone) and gone <= held and not (come and come <= held)


def _same_subject(new: _Statement, old: _Statement, left: _Left) -> bool:
    """Say whether two statements have one subject, and the old one tells little else."""
    others = set(stems(old.text)) - set(stems(new.text)) - left.stems
    return (
        old.names - left.stems <= new.names
        and len(others) <= _MOST_LEFT
        and not others & old.names
        and not (others and _added(new, old, left.stems))
        and _is_about(_head(old, left.stems), new, (left.start, left.end), left.stems)
    )


def _added(new: _Statement, old: _Statement, values: Collection[str]) -> set[str]:
    """Return what a statement tells besides the old one and the change.

    Where both tell something of their own, such as "for reads" and "for writes", they may be of two things.
    """
    told = {stem for token in new.tokens if token != _SELF and token not in _CHANGES for stem in stems(token)}
    return told - set(stems(old.text)) - set(values)


def _is_about(head: str | None, new: _Statement, place: tuple[int, int], values: Collection[str]) -> bool:
    """Say whether what is said at a place is said of a subject: no other name stands between the two."""
    if head is None:
        return False
    before, inside, after = new.text[: place[0]], new.text[slice(*place)], new.text[place[1] :]
    return any(
        _reaches(head, tokens, new.names, values)
        for tokens in (_tokens(before)[::-1], _tokens(inside), _tokens(after))
    )


def _reaches(head: str, tokens: Sequence[str], names: Collection[str], values: Collection[str]) -> bool:
    """Say whether a subject comes before any other name, or the user, in a row of words."""
    for token in tokens:
        if _is_possessive(token):
            continue
        if _plain(token) == _SELF:
            return head == _SELF
        found = [stem for stem in stems(token) if stem not in values]
        if head in found:
            return True
        if any(stem in names for stem in found):
            return False
    return False


def _head(statement: _Statement, values: Collection[str]) -> str | None:
    """Return the first word that says what a statement is about, apart from values and small words.

    What belongs to somebody is not that person: of "my brother" and "Ada's brother" it is the brother.
    """
    for token in _tokens(statement.text):
        if _is_possessive(token) or token.casefold() in _PRESENT:
            continue
        if _plain(token) == _SELF:
            return _SELF
        found = [stem for stem in stems(token) if stem not in values]
        if found:
            return found[0]
    return None


def _is_possessive(token: str) -> bool:
    return token.casefold() in _POSSESSIVES or token.endswith(("'s", "’s", "s'", "s’"))


def _denied(match: re.Match[str]) -> str:
    groups = match.groupdict()
    return groups["rest"] or groups["after"] or groups["verb"] or ""


def _denies(match: re.Match[str], new: _Statement, old: _Statement) -> bool:
    """Say whether what is denied, with its subject, is what the old text says."""
    denied = _denied(match)
    about = {*stems(new.text[: match.start()]), *stems(denied)}
    left = set(stems(old.text)) - about
    return (
        bool(stems(denied))
        and old.names <= new.names
        and len(left) <= 1
        and not left & old.names
        and not (left and _added(new, old, stems(match.group())))
        and _is_about(_head(old, ()), new, match.span(), ())
    )


def _now_other(new: _Statement, old: _Statement) -> bool:
    """Say whether a statement is the old one with "now" in it and another value at its end."""
    if _PRESENT.isdisjoint(new.tokens) or not _PRESENT.isdisjoint(old.tokens):
        return False
    mine = [token for token in new.tokens if token not in _PRESENT]
    yours = list(old.tokens)
    shared = 0
    while shared < min(len(mine), len(yours)) and mine[shared] == yours[shared]:
        shared += 1
    rest = len(mine) - shared, len(yours) - shared
    return shared >= max(2, *rest) and min(rest) > 0 and max(rest) <= _MOST_VALUE


def speaks_of_self(text: str) -> bool:
    """Say whether a text speaks of whoever keeps the memory: "I", "we", "the user"."""
    return any(_plain(token) == _SELF for token in _tokens(bare(text)[:_MOST_CHARS]))
