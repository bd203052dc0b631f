"""The parts of what is stated: phrases, and the statement that they fill."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

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
class Statement:
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
