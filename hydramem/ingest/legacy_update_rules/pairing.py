"""How two statements relate: what they share, what is given up, and what takes the place of what."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from hydramem.ingest.legacy_update_rules.clause_tokens import (
    SPEAKERS,
    ClauseStatement,
    Phrase,
    Token,
    thing_of,
    words_of,
)
from hydramem.ingest.legacy_update_rules.update_reading import TextReading
from hydramem.ingest.legacy_update_rules.word_tables import VALUES, WORDS

_LEAST = 3
_MOST_WORDS = 24
PLACES = ("in", "at", "under", "near", "over", "with")
"""Roles of phrases that say where something is."""

_LOCATED = ("live", "stay")

# What is counted through a year: "in week 33" says when.
_NUMBERED = ("week", "month", "quarter", "sprint", "year")


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


def state_of(phrase: Phrase) -> str:
    """Return the name of the states that a phrase is one of: "open" and "closed" have one; else nothing."""
    return "" if phrase.owned or phrase.article else VALUES["states"].get(phrase.forms[-1], "")


def class_of(phrase: Phrase) -> str:
    """Return the kind of things that a phrase names one of: "MySQL" is a database; else nothing."""
    if phrase.forms[0] == "every" and len(phrase.forms) > 1 and phrase.forms[1].isdigit():
        return "frequency"
    classes = VALUES["classes"]
    whole = classes.get("-".join(phrase.forms))
    if whole is not None:
        return whole
    said = [form for form in phrase.forms if not form[:1].isdigit()]
    # The last word says what it is: dark green is a color, and light roast no theme.
    for place, form in enumerate(reversed(said)):
        if form in VALUES["classes"]:
            return VALUES["classes"][form] if place == 0 else f"{VALUES['classes'][form]} {said[-1]}"
    return ""


def given_up(new: ClauseStatement, old: ClauseStatement, told: TextReading) -> Met | None:
    """Meet "MySQL instead of PostgreSQL" and "Tom left Siemens": what was said is named as no longer so.

    Args:
        new: What is stated now.
        old: What was stated.
        told: The whole text of the new one.
    """
    if not new.replaced or old.negated or (old.past and old.attribute not in WORDS["acquired"]):
        return None
    if new.replaced == old.subject:
        return _stood_in_for(new, old)
    if not new.replaced <= words_of(old.phrases) or not _one_purpose(new, old):
        return None
    if old.attribute in WORDS["has_many"] and old.attribute not in ("have", "go") and not new.now:
        return None
    said = {VALUES["speaker"].get(form, form) for form in told.forms} | new.subject
    whole = any(frozenset(p.forms) == new.replaced and p.named for p in old.phrases if not p.role)
    ours = whole and (bool(old.subject & new.subject & SPEAKERS) or (old.definite and "we" in new.subject))
    if not old.subject <= said and not ours:
        return None
    gone = " ".join(sorted(new.replaced))
    return Met(kind="after", reason=f"It says that {gone} is given up, which the one before tells of.")


def _stood_in_for(new: ClauseStatement, old: ClauseStatement) -> Met | None:
    """Meet "Jonas leads the team instead of Marta" and "Marta leads the team"."""
    if new.attribute != old.attribute or new.past or new.negated or old.ended or not old.phrases:
        return None
    lost, added = differing(new, old)
    if lost or any(not phrase.since for phrase in added):
        return None
    return Met(kind="after", reason=f"{new.about} does now what {old.about} did before.")


def _one_purpose(new: ClauseStatement, old: ClauseStatement) -> bool:
    mine, yours = _purposes(new), _purposes(old)
    return not mine or not yours or mine == yours or new.attribute == "replace"


def _purposes(statement: ClauseStatement) -> set[tuple[str, ...]]:
    return {phrase.forms for phrase in statement.phrases if phrase.role == "for"}


def changed(new: ClauseStatement, old: ClauseStatement) -> Met | None:
    """Meet "the service moved to MySQL" and "we raised the limit to 250"."""
    if new.attribute != "change" or new.negated or old.negated or old.past or not _one_purpose(new, old):
        return None
    target = target_of(new)
    if target is None:
        return None
    thing = _object(new)
    theme = new.subject if thing is None else frozenset(thing.forms)
    before, sure = _before(theme, target, new, result_of(old), objected=thing is not None)
    if before is None or before.forms == target.forms:
        return None
    return instead(new, target, before, sure=sure)


def result_of(old: ClauseStatement) -> ClauseStatement:
    """Return what a change led to as a statement: "the service moved to MySQL" leaves it at MySQL."""
    target = target_of(old) if old.attribute == "change" and not old.negated else None
    if target is None:
        return old
    thing = _object(old)
    subject = old.subject if thing is None else frozenset(thing.forms)
    attribute = "is"
    if subject <= SPEAKERS:
        attribute = "use" if class_of(target) else "live"
    role = "in" if target.kind == "thing" and attribute != "use" else ""
    kept = tuple(p for p in old.phrases if p is not target and p is not thing)
    return replace(
        old,
        subject=subject,
        attribute=attribute,
        definite=old.definite or thing is not None,
        phrases=(replace(target, role=role), *kept),
        change="",
        past=False,
    )


def target_of(new: ClauseStatement) -> Phrase | None:
    """Return what something changed to; None where that is not said."""
    match new.change:
        case "number":
            kinds: tuple[str, ...] = ("number",)
        case "date":
            kinds = ("date", "clock")
        case _:
            kinds = ("thing", "date", "clock", "number")
    # "Moved it in May" says when, "moved it to May" says what to; of a date itself both do.
    timed = new.change != "date"
    fitting = [phrase for phrase in new.phrases if phrase.kind in kinds]
    fitting = [p for p in fitting if not (timed and p.role in ("at", "in", "after") and _is_time(p))]
    for roles in (("to", "until"), ("at", "in", "after"), ("", "by")):
        aimed = [p for p in fitting if p.role in roles and (p.role not in ("", "by") or p.kind != "thing")]
        if aimed:
            return aimed[-1]
    return None


def _is_time(phrase: Phrase) -> bool:
    return phrase.kind in ("date", "clock") or phrase.forms[0] in _NUMBERED


def _object(new: ClauseStatement) -> Phrase | None:
    """Return what was changed, where somebody changed it."""
    thing = thing_of(new.phrases)
    return None if thing is None or thing.forms[0] in ("out", "over", "down", "up", "back") else thing


def _before(
    theme: frozenset[str], target: Phrase, new: ClauseStatement, old: ClauseStatement, *, objected: bool
) -> tuple[Phrase | None, bool]:
    """Return what the target takes the place of, and whether that is sure."""
    bare, spoken = theme - SPEAKERS, old.subject - SPEAKERS
    if not bare or (new.person and not objected and target.kind != "number"):
        return _of_somebody(theme, target, new, old)
    if bare == spoken:
        return _place_of(target, old.phrases, old), True
    others = old.phrases
    purpose = next((p for p in others if p.kind == "thing" and set(p.forms) - SPEAKERS == bare), None)
    if purpose is not None and (not objected or new.subject == old.subject or target.kind == "number"):
        return _place_of(target, [p for p in others if p is not purpose], old), True
    dosed = bare - WORDS["doses"]
    if target.kind == "number" and spoken < dosed <= spoken | words_of(others):
        return _place_of(target, others, old), True
    if target.kind == "number" and old.attribute == "cost" and bare - WORDS["prices"] == spoken:
        return _place_of(target, others, old), True
    head = bare < spoken and not any(form.isdigit() for form in spoken - bare)
    if head and (new.definite or objected):
        return _place_of(target, others, old), False
    return None, False


def _of_somebody(
    theme: frozenset[str], target: Phrase, new: ClauseStatement, old: ClauseStatement
) -> tuple[Phrase | None, bool]:
    """Of "we switched to MySQL": what we used, where both are of a kind; of "I moved": where I lived."""
    if theme != old.subject:
        return None, False
    fitting = [phrase for phrase in old.phrases if phrase.kind == target.kind == "thing"]
    kind = class_of(target)
    alike = [phrase for phrase in fitting if kind and class_of(phrase) == kind]
    alike = alike or [phrase for phrase in fitting if phrase.role and phrase.forms[-1] == target.forms[-1]]
    if alike and old.attribute not in WORDS["has_many"]:
        # "We switched to TypeScript for the frontend" leaves open what else is used.
        wider, narrower = _purposes(old), _purposes(new)
        return (alike[0], wider == narrower) if narrower <= wider else (None, False)
    if new.change == "move" and old.attribute in _LOCATED and not kind:
        placed = (phrase for phrase in fitting if phrase.role == "in" and _gives_way(phrase, target, old))
        return next(placed, None), True
    if new.change == "switch" and old.attribute == "use" and target.named and not kind:
        return next((p for p in fitting if not p.role and p.named and not class_of(p)), None), False
    return None, False


def _place_of(target: Phrase, others: Sequence[Phrase], old: ClauseStatement) -> Phrase | None:
    """Return the phrase that a target can take the place of."""
    for phrase in others:
        if phrase.kind == target.kind and _gives_way(phrase, target, old):
            return phrase
    return None


def _gives_way(phrase: Phrase, target: Phrase, old: ClauseStatement) -> bool:
    if phrase.kind == "number":
        return phrase.unit == target.unit
    if phrase.kind != "thing":
        return True
    if (phrase.named and not target.named) or target.article in WORDS["indefinites"]:
        return False
    classes = {class_of(phrase), class_of(target)} - {""}
    placed = phrase.role in ("", *PLACES, "for", "to")
    return len(classes) < 2 and placed and old.attribute not in WORDS["has_many"]
