"""What one statement may be to another, and what they have in common."""

from dataclasses import dataclass
from typing import Literal

from hydramem.ingest.telling.parts import SPEAKERS, Phrase, Statement


@dataclass(frozen=True, slots=True, kw_only=True)
class Met:
    """How a new statement meets an old one.

    Attributes:
        kind: `same`; `more`: it says what the old one says and more; `after`: it holds in the place of the
            old one; `against`: both cannot be true, and neither takes the place of the other.
        reason: A sentence for a person.
        sure: False where it holds only if no other memory asks for the same.
    """

    kind: Literal["same", "more", "after", "against"]
    reason: str
    sure: bool = True


_SPANS = frozenset(["second", "minute", "hour", "day", "night", "week", "month", "year"])

SAME = Met(kind="same", reason="It says the same.")

MORE = Met(kind="more", reason="It says the same, and more.")


def instead(new: Statement, after: Phrase, before: Phrase, *, sure: bool = True) -> Met:
    """Return that one phrase took the place of another."""
    about = new.about or "the same"
    said = f"Of {about}, it says {after.text}, where the one before says {before.text}."
    return Met(kind="after", reason=said, sure=sure)


def same_subject(new: Statement, old: Statement) -> bool:
    """Say whether two statements speak of the same thing."""
    if new.subject == old.subject:
        return bool(new.subject) and (not new.owners or not old.owners or new.owners == old.owners)
    mine, yours = new.subject - SPEAKERS, old.subject - SPEAKERS
    if new.definite and old.definite and new.subject ^ old.subject == {"we"}:
        return bool(mine)  # "the linter" and "our linter"
    # "the GP" after "my GP": only where the new one says that something changed.
    return new.now and bool(mine) and mine == yours and not (new.subject & old.subject & SPEAKERS)


def differing(new: Statement, old: Statement) -> tuple[list[Phrase], list[Phrase]]:
    """Return the phrases that only the old one has, and those that only the new one has."""
    lost, added = list(old.phrases), list(new.phrases)
    for phrase in old.phrases:
        match = next((other for other in added if _equal(phrase, other, old.attribute)), None)
        if match is not None:
            lost.remove(phrase)
            added.remove(match)
    return lost, added


def _equal(one: Phrase, other: Phrase, attribute: str) -> bool:
    if one.forms != other.forms or one.kind != other.kind:
        return False
    return _role(one, attribute) == _role(other, attribute)


def _role(phrase: Phrase, attribute: str) -> str:
    """Return what the preposition does, where several do the same."""
    if attribute in ("work", "live", "stay", "study") and phrase.role in ("for", "by", "in"):
        return "at"
    if attribute == "prefer" and phrase.role in ("over", "to", "than"):
        return "than"
    if phrase.role == "by" and phrase.forms[-1] in _SPANS:  # 20 euros per month, 20 euros a month
        return ""
    if phrase.kind == "number" or phrase.role in ("of", "~", "with", "including"):
        return ""
    return phrase.role
