"""What one statement may be to another, and what they have in common."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from hydramem.ingest.legacy_update_rules.clause_tokens import (
    SPEAKERS,
    ClauseStatement,
    Phrase,
    Token,
    words_of,
)
from hydramem.ingest.legacy_update_rules.word_tables import VALUES, WORDS


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


def instead(new: ClauseStatement, after: Phrase, before: Phrase, *, sure: bool = True) -> Met:
    """Return that one phrase took the place of another."""
    about = new.about or "the same"
    said = f"Of {about}, it says {after.text}, where the one before says {before.text}."
    return Met(kind="after", reason=said, sure=sure)


def same_subject(new: ClauseStatement, old: ClauseStatement) -> bool:
    """Say whether two statements speak of the same thing."""
    if new.subject == old.subject:
        return bool(new.subject) and (not new.owners or not old.owners or new.owners == old.owners)
    mine, yours = new.subject - SPEAKERS, old.subject - SPEAKERS
    if new.definite and old.definite and new.subject ^ old.subject == {"we"}:
        return bool(mine)  # "the linter" and "our linter"
    # "the GP" after "my GP": only where the new one says that something changed.
    return new.now and bool(mine) and mine == yours and not (new.subject & old.subject & SPEAKERS)


def differing(new: ClauseStatement, old: ClauseStatement) -> tuple[list[Phrase], list[Phrase]]:
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


_LEAST = 3


def same_kind(new: Sequence[Token], old: Sequence[Token]) -> bool:
    """Say whether two texts say one thing of a kind, one of them in the plural.

    Nothing may differ but the number of one noun and that of the verb behind it, and the plural must have
    no article: "the keys" are some, "keys" are all.
    """
    return _of_all(new, old) or _of_all(old, new)


def _of_all(several: Sequence[Token], one: Sequence[Token]) -> bool:
    if len(several) != len(one) or len(one) < _LEAST:
        return False
    first, head = several[0], one[0]
    if first.article or first.form in WORDS["owners"] or first.owner or not head.article:
        return False
    apart = [
        (many.form, single.form)
        for many, single in zip(several, one, strict=True)
        if (many.form, many.owner) != (single.form, single.owner)
    ]
    if len(apart) != 2 or any(token.article for token in (*several[1:2], *one[1:2])):
        return False
    (noun, thing), (verb, does) = apart
    copula = (verb, does) in (("are", "is"), ("have", "has"))
    if copula and head.article not in WORDS["indefinites"]:
        return False
    return _plural(noun, thing) and (copula or _plural(does, verb))


def _plural(longer: str, shorter: str) -> bool:
    if shorter.endswith("y") and longer == f"{shorter[:-1]}ies":
        return True
    return longer in (f"{shorter}s", f"{shorter}es")


_MOST_WORDS = 24


@dataclass(frozen=True, slots=True, kw_only=True)
class NeighbourQuery:
    """What to look for besides the nearest neighbours.

    Attributes:
        query: Words for full text; None where the text states nothing that could end anything.
        slots: What it speaks of and says of it, such as "crate 1001 is": two memories of one slot may
            end each other.
    """

    query: str | None = None
    slots: tuple[str, ...] = ()


def neighbour_query(statements: Sequence[ClauseStatement]) -> NeighbourQuery:
    """Return what to search for the sake of some statements."""
    told = [
        one
        for one in statements
        if not one.unsure and not (one.past and one.attribute not in WORDS["lasting"])
    ]
    found = dict.fromkeys(word for one in told for word in _search_words(one))
    slots = dict.fromkeys(" ".join((*sorted(one.subject), one.attribute)) for one in told if one.subject)
    return NeighbourQuery(query=" ".join(list(found)[:_MOST_WORDS]) or None, slots=tuple(slots))


def _search_words(statement: ClauseStatement) -> Iterator[str]:
    """Yield what it speaks of, what it gives up, what else is of the kind it names, and the verb's forms."""
    yield from sorted(statement.replaced)
    yield from sorted(statement.subject - SPEAKERS)
    said = words_of(statement.phrases) - SPEAKERS
    kinds = {VALUES["classes"][form] for form in said if form in VALUES["classes"]}
    if statement.change or statement.negated:
        yield from sorted(said)
    if kinds and not statement.replaced:  # else what it takes the place of is named
        yield from (word for word, kind in VALUES["classes"].items() if kind in kinds)
    if statement.subject <= SPEAKERS:
        yield from _of_speaker(statement, said, known=bool(kinds or statement.replaced))


def _of_speaker(statement: ClauseStatement, said: frozenset[str], *, known: bool) -> Iterator[str]:
    """Yield words by which what somebody said of himself is found, among much that others say so too."""
    yield from statement.about.casefold().split()
    yield from sorted(form for form in said if not form[:1].isdigit())
    attribute = statement.attribute
    if statement.change and not known and all(phrase.role for phrase in statement.phrases):
        attribute = "use" if statement.change == "switch" else "live"
    yield from (form for form, verb in VALUES["verbs"].items() if verb == attribute and attribute != "is")
