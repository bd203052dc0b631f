"""Two statements of one thing by one attribute: whether what fills the place excludes what did before."""

from collections.abc import Sequence

from hydramem.ingest.telling import words
from hydramem.ingest.telling.kinds import PLACES, class_of, state_of
from hydramem.ingest.telling.pair import MORE, SAME, Met, differing, instead
from hydramem.ingest.telling.parts import Phrase, Statement

QUANTITIES = frozenset({"is", "cost", "weigh", "last", "measure"})
"""Verbs by which one quantity of a thing is told."""


def filled(new: Statement, old: Statement) -> Met | None:
    """Say how two statements of one subject and attribute meet; None where both may be true.

    Args:
        new: What is stated now; neither is negated, or both are.
        old: What was stated.
    """
    lost, added = differing(new, old)
    if not lost and not added:
        if new.replaced - old.replaced:
            return MORE
        # What was done once may have been done again.
        return None if new.past or new.attribute != old.attribute else SAME
    if not lost:
        return MORE
    if not added or new.negated:
        return None
    if len(lost) == 1 and any(_extends(phrase, lost[0]) for phrase in added):
        return MORE
    pairs = _paired(lost, added, new, old)
    if not pairs:
        return None
    before, after = pairs[0]
    permanent = not new.now and not new.subject.isdisjoint(words.PERMANENT)
    if permanent or (new.attribute in words.LASTING and new.past and old.past):
        return Met(kind="against", reason=f"That happened once: {before.text} or {after.text}.")
    if new.past or old.past:
        return None
    quantities = new.attribute == old.attribute or all(one.kind == "number" for one, _ in pairs)
    shared = len(pairs) < len(old.phrases)
    if not quantities or not all(_exclusive(new, old, yours, mine, shared=shared) for yours, mine in pairs):
        return None
    return instead(new, after, before)


def _extends(phrase: Phrase, lost: Phrase) -> bool:
    return phrase.kind == lost.kind == "thing" and set(lost.forms) < set(phrase.forms)


def _paired(
    lost: Sequence[Phrase], added: Sequence[Phrase], new: Statement, old: Statement
) -> list[tuple[Phrase, Phrase]]:
    """Return the differing phrases in pairs; nothing where that cannot be done for certain."""
    pairs: list[tuple[Phrase, Phrase]] = []
    free = list(added)
    for before in lost:
        after = next((phrase for phrase in free if _comparable(before, phrase, new.attribute)), None)
        if after is not None:
            free.remove(after)
            pairs.append((before, after))
    paired = [before for before, _ in pairs]
    if len(pairs) > 1 and any(_is_year(before) for before in paired):
        return []  # each is told of its own year
    left = [phrase for phrase in (*free, *(one for one in lost if one not in paired)) if not phrase.since]
    if not pairs or (left and not new.now):
        return []
    # Where several things differ, nothing says which of them is another now.
    return [] if len(pairs) > 1 and any(before.kind == "thing" for before in paired) else pairs


def _is_year(phrase: Phrase) -> bool:
    year = phrase.forms[0]
    return phrase.kind == "number" and phrase.role == "in" and len(year) == 4 and year[:2] in ("19", "20")


def _comparable(before: Phrase, after: Phrase, attribute: str) -> bool:
    if before.kind != after.kind or before.since != after.since:
        return False
    if before.kind == "number":
        return before.unit == after.unit
    # A thing is in, at or under something; but who works in Berlin may work at Siemens.
    placed = attribute == "is" and {before.role, after.role} <= set(PLACES[:-1])
    return before.kind != "thing" or before.role == after.role or placed


def _exclusive(new: Statement, old: Statement, before: Phrase, after: Phrase, *, shared: bool) -> bool:
    """Say whether the attribute leaves room for one of two phrases only."""
    match before.kind:
        case "number":
            return new.attribute not in words.HAS_MANY or new.attribute == "have" or new.now
        case "date" | "clock":
            return _one_time(new, after)
        case _:
            return _one_thing(new, old, before, after, shared=shared)


def _one_time(new: Statement, after: Phrase) -> bool:
    if new.attribute == "run" and after.kind == "clock" and new.definite and not _goes_often(new):
        return True
    if new.attribute not in words.SCHEDULED:
        return new.now and (new.attribute not in words.HAS_MANY or new.attribute in words.MEETING)
    recurring = after.forms[0].endswith("*")
    several = new.attribute in ("open", "close") or (new.attribute == "arrive" and new.person)
    return new.now or not (several and (recurring or new.person))


def _goes_often(statement: Statement) -> bool:
    """Say whether a thing may run several times a day, as a bus does, or several things do."""
    return any(form in words.VEHICLES or form.endswith("s") for form in statement.subject)


def _one_thing(new: Statement, old: Statement, before: Phrase, after: Phrase, *, shared: bool) -> bool:
    if state_of(before) and state_of(before) == state_of(after):
        return True
    classes = {class_of(before), class_of(after)}
    if len(classes - {""}) > 1:
        return False
    alike = len(classes) == 1 and "" not in classes
    if alike and classes == {"frequency"}:
        return True
    if new.attribute in words.HAS_MANY:
        # "We get our internet from Telekom now": of the same, from another.
        headed = before.forms[-1] == after.forms[-1] or new.attribute in words.MEETING
        return new.now and (shared or headed) and bool(before.role) and new.attribute != "have"
    if new.attribute in ("use", "prefer", "drink"):
        return (alike or (new.now and shared)) if new.attribute != "use" else (shared or (new.now and alike))
    if new.attribute in words.CHOSEN and not before.role:
        return new.now
    if after.article in words.INDEFINITES and not new.now:
        return False
    if new.attribute == "is" and not before.role:
        return _one_value(new, old, before, after, alike=alike)
    if (new.attribute, before.role) in words.ONE_OTHER:
        return new.now or (before.named and after.named)
    if before.role in PLACES:
        return _one_place(new, old, before, after)
    # "Search is handled by another service now": the same, by another.
    return new.now and (alike or (new.attribute == "is" and shared and bool(before.role)))


def _one_value(new: Statement, old: Statement, before: Phrase, after: Phrase, *, alike: bool) -> bool:
    """Of "X is Y": one where X is what has one, as "the manager", or where Y is a name."""
    heads = new.subject - new.owners
    if not heads.isdisjoint(words.SEVERAL):
        return False
    if not heads.isdisjoint(words.FREE) or (alike and new.now):
        return True
    named = before.named and after.named
    if not heads.isdisjoint(words.ATTRIBUTES):
        return named or alike
    return named and old.definite and not (before.article or after.article or new.person)


def _one_place(new: Statement, old: Statement, before: Phrase, after: Phrase) -> bool:
    if new.attribute not in words.PLACED:
        return False
    # Hall 3 and hall 5; third grade and fourth grade.
    long = min(len(before.forms), len(after.forms)) > 1
    headed = before.forms[0] == after.forms[0] or (long and before.forms[-1] == after.forms[-1])
    named = before.named and after.named
    if new.attribute == "is" and new.person:  # who is in the choir may be on a diet
        return before.role == after.role and (headed or named)
    if new.attribute == "is":
        return headed or named or new.now or (old.definite and before.named == after.named)
    if new.attribute in ("run", "write"):  # on several systems, in several languages
        return headed or new.now
    return headed or named or (new.now and after.named)
