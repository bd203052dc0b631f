"""Whether two sentences contradict each other: the same frame, with one decisive place filled differently.

A sentence is read as a frame of plain words and the slots in it: numbers, dates and names. Two sentences of
one frame whose slots differ in exactly one place, or whose negation differs and nothing else, can be set
against each other by their frames alone, so that a whole store is compared in one pass. Whether they then
clash is a matter of which place differs. Before the verb it tells of what is spoken: "crate 1001" and
"crate 1002" are two crates. After it, and where the verb has room for one value only, two values clash.
Precision goes before recall: a verb that is not known to tell one value tells nothing.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from hydramem.ingest.legacy_update_rules.word_tables import ARTICLES, CONTRAST_WORDS, VALUES, WORDS
from hydramem.text.normalize import wording
from hydramem.text.sentences import sentence_spans

INDEFINITE = CONTRAST_WORDS["indefinite"]
NEGATIONS = CONTRAST_WORDS["negations"]
SPEAKERS = CONTRAST_WORDS["speakers"]
COPULAS = CONTRAST_WORDS["copulas"]
EXCLUSIVE = CONTRAST_WORDS["exclusive"]
POSSESSION = CONTRAST_WORDS["possession"]
SCHEDULING = CONTRAST_WORDS["scheduling"]
OPPOSITES = VALUES["opposites"]
NUMBERS = VALUES["numbers"]
MONTHS = frozenset(VALUES["months"])
WEEKDAYS = frozenset(VALUES["weekdays"])
SlotKind = Literal["number", "date", "name"]
ContrastKind = Literal["number", "date", "name", "negation"]
_MOST_WORDS = 40
_LONGEST = 400
_LEAST_WORDS = 3
_NAMES = "|".join(sorted((*MONTHS, *WEEKDAYS), key=len, reverse=True))
_MONTH = "|".join(sorted(MONTHS, key=len, reverse=True))

_TOKEN = re.compile(
    rf"(?P<date>\d{{4}}-\d{{2}}(?:-\d{{2}})?\b|\d{{1,2}}\.\s?\d{{1,2}}\.\s?\d{{4}}\b|\d{{1,2}}/\d{{1,2}}/\d{{2,4}}\b"
    rf"|\b\d{{1,2}}(?:st|nd|rd|th|\.)?\s+(?:de\s+|of\s+)?(?:{_MONTH})\b(?:,?\s+(?:de\s+)?\d{{4}}\b)?"
    rf"|\b(?:{_MONTH})\s+\d{{1,2}}(?:st|nd|rd|th)?\b(?:,?\s+\d{{4}}\b)?|\b(?:{_MONTH})\s+(?:de\s+)?\d{{4}}\b"
    rf"|\b\d{{1,2}}(?::\d{{2}})?\s?(?:[ap]m|Uhr)\b|\b(?:{_NAMES})s?\b|\b\d{{1,2}}:\d{{2}}\b|\b(?:1[5-9]|20)\d{{2}}\b(?![.,]?\d))"
    r"|(?P<number>(?<![\w.])[-+]?\d+(?:[.,]\d+)*\b(?!\w))"
    r"|(?P<word>[^\W_]+(?:[’'-][^\W_]+)*)|(?P<sign>[%€$£°+#])",
    re.IGNORECASE,
)

_VERBS = COPULAS | WORDS["past_copulas"] | CONTRAST_WORDS["stative"] | SCHEDULING | EXCLUSIVE

_VERB_FORMS = (
    _VERBS
    | {verb[:-1] for verb in _VERBS if verb.endswith("s")}
    | {f"{verb}n{mark}t" for verb in ("is", "are", "was", "were") for mark in "'’"}
)

_WORD = re.compile(r"[^\W_]+(?:[’'-][^\W_]+)*")
_NO_START = CONTRAST_WORDS["openers"] | INDEFINITE | CONTRAST_WORDS["pronouns"]

# What is no part of a frame, and what a date may take in.
_OUT_OF_LINE = (
    ARTICLES
    | CONTRAST_WORDS["support"]
    | NEGATIONS
    | MONTHS
    | WEEKDAYS
    | NUMBERS.keys()
    | {"de", "of", "don't", "don’t"}
    | {f"{word}s" for word in WEEKDAYS}
    | {f"{word}n{mark}t" for word in ("do", "does", "did", "ca", "wo") for mark in "'’"}
)

_ORDINAL = re.compile(r"\b\d{1,2}\.$")
_MONTH_NEXT = re.compile(rf"\s*(?:{_MONTH})\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Slot:
    """A place in a sentence that tells its sentences from others of the same frame.

    Attributes:
        value: What fills it, in a form that equal values share.
        text: The words that fill it.
        telling: Whether another value there says something else of the same thing.
    """

    kind: SlotKind
    value: str
    text: str
    telling: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Saying:
    """A sentence that states something, read for comparison.

    Attributes:
        frame: Its plain words; sentences of one frame say the same of things.
        named: Whether it names what it is about; else that follows from where it stands.
        speaks: Whether it is about who says it.
    """

    text: str
    frame: str
    slots: tuple[Slot, ...]
    negated: bool
    named: bool
    speaks: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Contrast:
    """How two sentences contradict each other, and by which words."""

    kind: ContrastKind
    one: str
    other: str


def contrast(one: Saying, other: Saying) -> Contrast | None:
    """Say how two sentences contradict each other, None where they do not, or nothing shows it."""
    if one.frame != other.frame:
        return None
    differing = [
        (mine, yours) for mine, yours in zip(one.slots, other.slots, strict=True) if mine.value != yours.value
    ]
    if one.negated != other.negated:
        return None if differing else Contrast(kind="negation", one=one.text, other=other.text)
    if len(differing) != 1:
        return None
    ((mine, yours),) = differing
    if not (mine.telling and yours.telling):
        return None
    return Contrast(kind=mine.kind, one=mine.text, other=yours.text)


def comparable(saying: Saying) -> Iterator[tuple[object, ...]]:
    """Yield keys: two sentences that share one differ in one place at most, the place that it leaves out."""
    values = [slot.value for slot in saying.slots]
    yield (saying.frame, *values)
    for place, slot in enumerate(saying.slots):
        if slot.telling:
            yield (saying.frame, saying.negated, place, *values[:place], None, *values[place + 1 :])


def outlines(text: str) -> Iterator[tuple[str, str]]:
    """Yield the sentences of a text that may state something, each with its outline.

    Sentences of one frame have one outline. It is had for a tenth of what reading a sentence takes, so that
    only those which share it need to be read.
    """
    for start, end in _joined(text):
        sentence = text[start:end].strip(" \t\r\n-*•#>|")
        words = _WORD.findall(sentence)
        if not _LEAST_WORDS <= len(words) <= _MOST_WORDS or sentence.endswith(("?", "？", ":")):
            continue
        plain = [words[0].casefold(), *(word for word in words[1:] if word[0].islower())]
        if plain[0] not in _NO_START and not _VERB_FORMS.isdisjoint(plain):
            yield sentence, " ".join(_outlined(word) for word in plain if word not in _OUT_OF_LINE)


def _outlined(word: str) -> str:
    bare = word[:-3] if word.endswith(("n't", "n’t")) else word
    return _stem(OPPOSITES.get(bare, bare))


def _joined(text: str) -> Iterator[tuple[int, int]]:
    """Yield the spans of sentences; the stop of a German date ends none."""
    begin = None
    for start, end in sentence_spans(text):
        begin = start if begin is None else begin
        if _ORDINAL.search(text, max(begin, end - 4), end) and _MONTH_NEXT.match(text, end):
            continue
        yield begin, end
        begin = None


@dataclass(slots=True)
class _Reader:
    """Reads one sentence from left to right."""

    words: list[str]
    slots: list[Slot]
    verbs: set[str]
    negated: bool = False
    indefinite: bool = False
    named: bool = False
    aside: bool = False
    last: str = ""
    perfect: bool = False

    def word(self, text: str, folded: str) -> None:
        self.indefinite = folded in INDEFINITE
        if folded in ARTICLES or folded in CONTRAST_WORDS["support"]:
            return
        if folded in NEGATIONS or folded.endswith(("n't", "n’t")):
            self.negated = not self.negated
            if folded in ("isn't", "isn’t", "aren't", "aren’t", "wasn't", "wasn’t"):
                self.word(text[:-3], folded[:-3])
            return
        if self.last in POSSESSION and folded.endswith(("ed", "en")):
            self.perfect = True  # has written
        self.last = folded
        if folded in OPPOSITES:
            folded, self.negated = OPPOSITES[folded], not self.negated
        self.aside = self.aside or folded in CONTRAST_WORDS["relatives"]
        verb = folded if folded in _VERBS else f"{folded}s"  # does not use
        if verb in _VERBS and self.words and not self.aside:
            self.verbs.add(verb)
        self.words.append(_stem(folded))

    def slot(self, kind: SlotKind, value: str, text: str) -> None:
        if not self.verbs:
            self.named = True
        last = self.slots[-1] if self.slots and self.words and self.words[-1] == "<name>" else None
        if kind == "name" and last is not None:  # a name of several words is one
            joined = f"{last.text} {text}"
            self.slots[-1] = Slot(kind=kind, value=joined.casefold(), text=joined, telling=last.telling)
            return
        self.slots.append(Slot(kind=kind, value=value, text=text, telling=self._tells(kind)))
        self.words.append(f"<{kind}>")
        self.last = ""
        self.indefinite = False

    def _tells(self, kind: SlotKind) -> bool:
        """Say whether the verbs so far leave room for one value of a kind only."""
        present = not self.verbs.isdisjoint(COPULAS)
        exclusive = not self.verbs.isdisjoint(EXCLUSIVE) and self.verbs.isdisjoint(POSSESSION)
        match kind:
            case "number":
                return bool(self.verbs) and not self.verbs <= SCHEDULING
            case "date":
                return present or exclusive or not self.verbs.isdisjoint(SCHEDULING)
            case "name":
                place = self.last in CONTRAST_WORDS["places"] and (present or exclusive)
                other = self.last in CONTRAST_WORDS["towards"] and exclusive
                itself = self.last in ("is", "ist", "es") or (exclusive and self.last in EXCLUSIVE)
                return (place or other or itself) and not self.indefinite


def read(sentence: str) -> Saying | None:
    """Read one sentence; None where it states nothing that could be set against another."""
    plain = wording(sentence)
    if not plain or plain.endswith(("?", "？", ":")) or len(plain) > _LONGEST:
        return None
    tokens = list(_TOKEN.finditer(plain))
    if not _LEAST_WORDS <= len(tokens) <= _MOST_WORDS:
        return None
    first = tokens[0].group().casefold()
    if first in CONTRAST_WORDS["openers"] or first in INDEFINITE or first in CONTRAST_WORDS["pronouns"]:
        return None
    reader = _Reader(words=[], slots=[], verbs=set())
    for place, token in enumerate(tokens):
        _read(reader, token, place, tokens)
    if not reader.verbs:
        return None
    # Hat geschrieben, hat besucht: what was done may be done again.
    done = reader.perfect or (reader.verbs <= {"hat", "haben"} and reader.last.endswith(("en", "t")))
    slots = [replace(slot, telling=slot.telling and not done) for slot in reader.slots]
    return Saying(
        text=sentence,
        frame=" ".join(reader.words),
        slots=tuple(slots),
        negated=reader.negated,
        named=reader.named or _named_first(tokens),
        speaks=first in SPEAKERS,
    )


def _read(reader: _Reader, token: re.Match[str], place: int, tokens: Sequence[re.Match[str]]) -> None:
    text = token.group()
    folded = text.casefold()
    if token["date"]:
        if folded in ("may", "march", "mar", "sun", "sat") and not text[0].isupper():
            reader.word(text, folded)
        else:
            reader.slot("date", " ".join(re.split(r"[\s,./]+", folded)), text)
    elif token["number"]:
        reader.slot("number", _number(text), text)
    elif token["sign"]:
        reader.words.append(text)
    elif folded in NUMBERS:
        reader.slot("number", NUMBERS[folded], text)
    elif any(letter.isdigit() for letter in text) or (place and text[0].isupper() and folded not in SPEAKERS):
        reader.slot("name", folded, text)
    else:
        reader.word(text, folded)


def _number(text: str) -> str:
    """Return a number in one form: 1,000 and 1.000 and 1000; 3,5 and 3.5."""
    if re.fullmatch(r"[-+]?\d{1,3}(?:[.,]\d{3})+", text):
        return re.sub(r"[.,]", "", text)
    plain = text.replace(",", ".")
    return plain.rstrip("0").rstrip(".") if plain.count(".") == 1 else plain


def _stem(word: str) -> str:
    """Return a word without the ending that agrees with its subject or number."""
    if word in ("has", "have"):
        return "have"
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word


def _named_first(tokens: Sequence[re.Match[str]]) -> bool:
    """Say whether a sentence begins with a name: a capital, no article, and a verb after it."""
    first, second = tokens[0].group(), tokens[1].group()
    plain = first.casefold() not in ARTICLES and first.casefold() not in SPEAKERS
    return plain and first[0].isupper() and (second.casefold() in _VERBS or second[0].isupper())
