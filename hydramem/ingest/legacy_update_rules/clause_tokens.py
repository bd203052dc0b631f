"""The words of a memory in one form: words that are written differently and mean the same become equal.

Case, articles, quotes, plural endings, ways to write a number, a date, a time of day or a currency.
Nothing that tells two things apart is lost: numbers, names, dates and negations keep their places.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Literal

from hydramem.ingest.legacy_update_rules.word_tables import ARTICLES, VALUES, WORDS

TokenKind = Literal["word", "number", "date", "clock", "mark"]

_FORMS = str.maketrans(
    {"“": '"', "”": '"', "„": '"', "’": "'", "‘": "'", "‐": "-", "‑": "-", "–": "-", "—": "-"}
)

_MONTH = "|".join(sorted(VALUES["month_numbers"], key=len, reverse=True))

_TOKEN = re.compile(
    r"(?P<address>https?://\S+|[\w.+-]+@[\w-]+(?:\.[\w-]+)+)"
    r"|(?P<iso>\b\d{4}-\d{2}(?:-\d{2})?\b)"
    r"|(?P<dotted>\b\d{1,2}[./]\s?\d{1,2}[./]\s?\d{4}\b)"
    rf"|(?P<day>\b\d{{1,2}}(?:st|nd|rd|th|\.)?\s+(?:de\s+|of\s+)?(?:{_MONTH})\b\.?(?:,?\s+(?:de\s+)?\d{{4}}\b)?"
    rf"|\b(?:{_MONTH})\.?\s+\d{{1,2}}(?:st|nd|rd|th)?\b(?!:)(?:,?\s+\d{{4}}\b)?|\b(?:{_MONTH})\s+(?:de\s+)?\d{{4}}\b)"
    r"|(?P<clock>\b\d{1,2}(?:[:.]\d{2})?\s?(?:[ap]\.?m\b\.?|uhr\b|h\b|o'clock\b)(?:\s?[ap]m\b)?|\b\d{1,2}:\d{2}\b)"
    r"|(?P<number>(?<![\w.])[-+]?\d+(?:[.,]\d{3})*(?:[.,]\d+)?(?![\w]|[.,:/-]\d))"
    r"|(?P<sign>[%€$£&])"
    r"|(?P<word>\w+(?:[.:/+#]\w+)*(?:[+#]+)?(?:'\w*)?(?:\([rae]\))?)"
    r"|(?P<mark>[.!?;:,]|(?<=\s)-+(?=\s)|[()\"])",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Token:
    """A word, number, date, time or mark of a text.

    Attributes:
        form: What equal ones share.
        capital: Whether it is written with a capital.
        article: The article before it, which is no token of its own; empty where there is none.
        owner: Whether it is a possessor: "Ada's".
    """

    form: str
    kind: TokenKind = "word"
    text: str = ""
    capital: bool = False
    article: str = ""
    owner: bool = False

    @property
    def marks(self) -> bool:
        """Whether it tells one thing from another of its kind: a number, date, time or what holds a digit."""
        if self.kind in ("number", "date", "clock"):
            return True
        return not self.form.isalpha() and any(letter.isdigit() for letter in self.form)


def tokens(text: str) -> tuple[Token, ...]:
    """Return the tokens of a text, in order."""
    plain = unicodedata.normalize("NFKC", text).translate(_FORMS)
    return tuple(_articled(_ordered(list(_titled(_found(plain))))))


def _found(text: str) -> Iterator[Token]:
    for match in _TOKEN.finditer(text):
        written, kind = match.group(), match.lastgroup
        match kind:
            case "iso" | "dotted" | "day":
                yield _date(written, kind)
            case "clock":
                yield Token(form=_clock(written), kind="clock", text=written)
            case "number":
                yield Token(form=number(written), kind="number", text=written)
            case "sign":
                yield Token(form=VALUES["currencies"][written], text=written)
            case "mark":
                yield Token(
                    form="," if written in '()"' or written[0] == "-" else written, kind="mark", text=written
                )
            case "address":
                yield Token(form=written.casefold().rstrip(".,"), text=written, capital=True)
            case _:
                yield from _words(written)


def _words(written: str) -> Iterator[Token]:
    """Yield the words of one written without a gap: "don't" is two."""
    folded = written.casefold()
    capital = written[0].isupper()
    if folded in VALUES["contractions"]:
        for form in VALUES["contractions"][folded].split():
            yield Token(form=form, text=written, capital=capital)
        return
    if folded.endswith("n't") and len(folded) > 4:
        denied = form_of(folded[:-3])
        yield from (Token(form=denied, text=written, capital=capital), Token(form="not"))
        return
    base, _, ending = folded.partition("'")
    if ending in VALUES["endings"] and base:
        yield from (
            Token(form=form_of(base), text=base, capital=capital),
            Token(form=VALUES["endings"][ending]),
        )
        return
    if ending in ("s", "") and base != folded:
        yield Token(form=form_of(base), text=written, capital=capital, owner=True)
        return
    figure = VALUES["numbers"].get(folded) or VALUES["higher_numbers"].get(folded)
    if figure and not capital:
        yield Token(form=figure, kind="number", text=written)
    elif folded in VALUES["weekday_numbers"]:
        yield Token(form=VALUES["weekday_numbers"][folded], kind="date", text=written)
    elif folded in VALUES["month_numbers"] and (capital or folded not in ("may", "march", "mar", "dec")):
        yield Token(form=f"{VALUES['month_numbers'][folded]}-?", kind="date", text=written)
    else:
        yield Token(form=form_of(folded), text=written, capital=capital)


def _titled(found: Iterator[Token]) -> Iterator[Token]:
    """Leave out the dot of a title, which ends no sentence."""
    before = ""
    for token in found:
        if token.form != "." or before not in WORDS["titles"]:
            yield token
        before = token.form


def _ordered(found: list[Token]) -> Iterator[Token]:
    """Put a currency behind its number, and what makes a day recur into the day."""
    place = 0
    while place < len(found):
        token, after = found[place], found[place + 1] if place + 1 < len(found) else None
        place += 2
        money = token.form in ("euro", "dollar", "pound")
        if after is not None and money and after.kind == "number" and not _counts(found, place - 2):
            yield from (after, token)
        elif (
            after is not None
            and token.form in WORDS["recurring"]
            and after.form.startswith("w")
            and after.kind == "date"
        ):
            yield replace(after, form=f"{after.form.rstrip('*')}*")
        else:
            yield token
            place -= 1


def _counts(found: list[Token], place: int) -> bool:
    """Say whether what stands at a place follows a number already: "5 euros 3 days ago"."""
    return place > 0 and found[place - 1].kind == "number"


def _articled(found: Iterator[Token]) -> Iterator[Token]:
    """Put articles to the word they stand before."""
    article = ""
    for token in found:
        if token.kind == "word" and token.form in ARTICLES:
            article = token.form
            continue
        yield replace(token, article=article) if article else token
        article = ""


def _date(written: str, kind: str) -> Token:
    """Return a date as month-day-year, with what is not said left out."""
    if kind == "iso":
        year, month, *day = written.split("-")
    elif kind == "dotted":
        first, month, year = re.split(r"[./]\s?", written)
        day = [first]
    else:
        parts = re.findall(r"\d+|[^\W\d]+", written.casefold())
        month = next(VALUES["month_numbers"][part] for part in parts if part in VALUES["month_numbers"])
        digits = [part for part in parts if part.isdigit()]
        day = [part for part in digits if len(part) < 3]
        year = next((part for part in digits if len(part) == 4), "")
    said = "-".join([str(int(month)), str(int(day[0])) if day else "?", *([year] if year else [])])
    return Token(form=said, kind="date", text=written)


def _clock(written: str) -> str:
    """Return a time of day as 24 hours: 3 pm and 15:00 are one."""
    digits = re.findall(r"\d+", written)
    hour, minute = int(digits[0]), digits[1] if len(digits) > 1 else "00"
    half = re.search(r"([ap])\.?m", written, re.IGNORECASE)
    if half is not None:
        hour = hour % 12 + (12 if half[1] in "pP" else 0)
    return f"{hour:02}:{minute}"


def number(written: str) -> str:
    """Return a number in one form: 1,000 and 1.000 and 1000; 3,5 and 3.50."""
    if re.fullmatch(r"[-+]?\d{1,3}(?:[.,]\d{3})+", written):
        return re.sub(r"[.,]", "", written)
    plain = written.replace(",", ".").lstrip("+")
    # 3.50 is 3.5; but 3.10 may be a version, and is not 3.1.
    return plain[:-2] if plain.endswith(".0") and plain.count(".") == 1 else plain


def form_of(word: str) -> str:
    """Return a word in its one spelling."""
    return VALUES["same_words"].get(word, word)


PhraseKind = Literal["date", "clock", "number", "thing"]
Change = Literal["", "move", "switch", "date", "number"]
SPEAKERS = frozenset({"i", "we"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Phrase:
    """A part of what is said.

    Attributes:
        role: What its preposition does; empty where it has none.
        forms: Its words.
        named: Whether it is, or holds, a name.
        article: Before its first word.
        owned: Whether it tells whose it is.
        text: As it is written.
    """

    kind: PhraseKind
    role: str
    forms: tuple[str, ...]
    named: bool = False
    article: str = ""
    owned: bool = False
    text: str = ""

    @property
    def unit(self) -> tuple[str, ...]:
        """The words of a quantity without the number, of which one and several are the same."""
        plain = (form for form in self.forms if not form[:1].isdigit() and form[:1] not in "+-")
        return tuple(form[:-1] if len(form) > 3 and form.endswith("s") else form for form in plain)

    @property
    def since(self) -> bool:
        """Whether it only says from when, or until when, the rest holds."""
        return self.role in ("since", "until", "after", "before") and (
            self.kind != "thing" or self.role != "before"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ClauseStatement:
    """A clause that states something.

    Attributes:
        subject: What it speaks of; the words of it, `i` and `we` for who says it.
        owners: Those of them that have the others.
        definite: Whether one certain thing is meant.
        person: Whether the subject is a bare name or who says it.
        attribute: The verb, in one form.
        ended: Whether it says that something holds no longer.
        now: Whether it says that something is new.
        change: What kind of change it tells, if one.
        past: Whether it tells of what was or was done.
        unsure: Whether it is a wish, plan or condition.
        replaced: Words of what it says was given up.
        topic: What a pronoun that follows refers to.
        about: The subject as it is written.
    """

    subject: frozenset[str]
    owners: frozenset[str] = frozenset()
    definite: bool = False
    person: bool = False
    attribute: str
    phrases: tuple[Phrase, ...] = ()
    negated: bool = False
    ended: bool = False
    now: bool = False
    change: Change = ""
    past: bool = False
    unsure: bool = False
    replaced: frozenset[str] = frozenset()
    topic: frozenset[str] = frozenset()
    about: str = ""


def words_of(phrases: Iterable[Phrase]) -> frozenset[str]:
    """Return the words of some phrases."""
    return frozenset(form for phrase in phrases for form in phrase.forms)


def thing_of(phrases: Iterable[Phrase]) -> Phrase | None:
    """Return the object: the first thing without a preposition, None where there is none."""
    return next((phrase for phrase in phrases if phrase.kind == "thing" and not phrase.role), None)
