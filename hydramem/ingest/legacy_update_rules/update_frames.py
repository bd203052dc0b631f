"""Two statements of one subject and attribute: whether the new value excludes the old one."""

from collections.abc import Sequence
from dataclasses import replace

from hydramem.ingest.legacy_update_rules.clause_tokens import ClauseStatement, Phrase, thing_of
from hydramem.ingest.legacy_update_rules.pairing import (
    MORE,
    PLACES,
    SAME,
    Met,
    changed,
    class_of,
    differing,
    given_up,
    instead,
    result_of,
    same_subject,
    state_of,
)
from hydramem.ingest.legacy_update_rules.update_reading import TextReading
from hydramem.ingest.legacy_update_rules.word_tables import ONE_OTHER, WORDS

QUANTITIES = frozenset({"is", "cost", "weigh", "last", "measure"})
"""Verbs by which one quantity of a thing is told."""


def filled(new: ClauseStatement, old: ClauseStatement) -> Met | None:
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
    permanent = not new.now and not new.subject.isdisjoint(WORDS["permanent"])
    if permanent or (new.attribute in WORDS["lasting"] and new.past and old.past):
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
    lost: Sequence[Phrase], added: Sequence[Phrase], new: ClauseStatement, old: ClauseStatement
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


def _exclusive(
    new: ClauseStatement, old: ClauseStatement, before: Phrase, after: Phrase, *, shared: bool
) -> bool:
    """Say whether the attribute leaves room for one of two phrases only."""
    match before.kind:
        case "number":
            return new.attribute not in WORDS["has_many"] or new.attribute == "have" or new.now
        case "date" | "clock":
            return _one_time(new, after)
        case _:
            return _one_thing(new, old, before, after, shared=shared)


def _one_time(new: ClauseStatement, after: Phrase) -> bool:
    if new.attribute == "run" and after.kind == "clock" and new.definite and not _goes_often(new):
        return True
    if new.attribute not in WORDS["scheduled"]:
        return new.now and (new.attribute not in WORDS["has_many"] or new.attribute in WORDS["meeting"])
    recurring = after.forms[0].endswith("*")
    several = new.attribute in ("open", "close") or (new.attribute == "arrive" and new.person)
    return new.now or not (several and (recurring or new.person))


def _goes_often(statement: ClauseStatement) -> bool:
    """Say whether a thing may run several times a day, as a bus does, or several things do."""
    return any(form in WORDS["vehicles"] or form.endswith("s") for form in statement.subject)


def _one_thing(
    new: ClauseStatement, old: ClauseStatement, before: Phrase, after: Phrase, *, shared: bool
) -> bool:
    if state_of(before) and state_of(before) == state_of(after):
        return True
    classes = {class_of(before), class_of(after)}
    if len(classes - {""}) > 1:
        return False
    alike = len(classes) == 1 and "" not in classes
    if alike and classes == {"frequency"}:
        return True
    if new.attribute in WORDS["has_many"]:
        # "We get our internet from Telekom now": of the same, from another.
        headed = before.forms[-1] == after.forms[-1] or new.attribute in WORDS["meeting"]
        return new.now and (shared or headed) and bool(before.role) and new.attribute != "have"
    if new.attribute in ("use", "prefer", "drink"):
        return (alike or (new.now and shared)) if new.attribute != "use" else (shared or (new.now and alike))
    if new.attribute in WORDS["chosen"] and not before.role:
        return new.now
    if after.article in WORDS["indefinites"] and not new.now:
        return False
    if new.attribute == "is" and not before.role:
        return _one_value(new, old, before, after, alike=alike)
    if (new.attribute, before.role) in ONE_OTHER:
        return new.now or (before.named and after.named)
    if before.role in PLACES:
        return _one_place(new, old, before, after)
    # "Search is handled by another service now": the same, by another.
    return new.now and (alike or (new.attribute == "is" and shared and bool(before.role)))


def _one_value(
    new: ClauseStatement, old: ClauseStatement, before: Phrase, after: Phrase, *, alike: bool
) -> bool:
    """Of "X is Y": one where X is what has one, as "the manager", or where Y is a name."""
    heads = new.subject - new.owners
    if not heads.isdisjoint(WORDS["several"]):
        return False
    if not heads.isdisjoint(WORDS["free"]) or (alike and new.now):
        return True
    named = before.named and after.named
    if not heads.isdisjoint(WORDS["attributes"]):
        return named or alike
    return named and old.definite and not (before.article or after.article or new.person)


def _one_place(new: ClauseStatement, old: ClauseStatement, before: Phrase, after: Phrase) -> bool:
    if new.attribute not in WORDS["placed"]:
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


_TELLS_CHANGE = ("change", "drop", "replace")


def meet(new: ClauseStatement, old: ClauseStatement, told: TextReading) -> Met | None:
    """Say how a new statement meets an old one; None where it does not.

    Args:
        new: What is stated now.
        old: What was stated.
        told: The whole text of the new one.
    """
    if old.attribute in ("drop", "replace") or old.unsure or new.unsure:
        return _alike(new, old)
    found = given_up(new, old, told) or changed(new, old)
    if found is not None:
        return found
    if new.attribute in _TELLS_CHANGE or old.attribute in _TELLS_CHANGE:
        return _alike(new, old) or _since_changed(new, old)
    if not same_subject(new, old):
        return _turned_round(new, old) or _other_holder(new, old)
    if new.negated != old.negated:
        return _denied(new, old) if new.attribute == old.attribute else None
    if new.attribute == old.attribute or {new.attribute, old.attribute} <= QUANTITIES:
        return filled(new, old)
    return _works_again(new, old) or _another_of_its_kind(new, old)


def _turned_round(new: ClauseStatement, old: ClauseStatement) -> Met | None:
    """Meet "the cows are milked" and "we milk the cows"."""
    passive, active = (new, old) if new.attribute == "is" else (old, new)
    thing = thing_of(active.phrases)
    if passive.attribute != "is" or thing is None or not passive.phrases or new.negated or old.negated:
        return None
    if thing.owned or new.past or old.past or frozenset(thing.forms) != passive.subject:
        return None
    placed = active.attribute.removesuffix("s") in WORDS["keeping"]
    if not placed and not _is_done(passive.phrases[0], active.attribute):
        return None
    others = passive.phrases if placed else passive.phrases[1:]
    by = [phrase for phrase in others if phrase.role == "by" and frozenset(phrase.forms) == active.subject]
    if not by and active.subject != {"we"}:
        return None
    left = replace(passive, phrases=tuple(phrase for phrase in others if phrase not in by))
    rest = replace(active, phrases=tuple(phrase for phrase in active.phrases if phrase is not thing))
    lost, added = differing(left, rest)
    return None if lost or added else SAME


def _is_done(phrase: Phrase, verb: str) -> bool:
    """Say whether a phrase is the English participle of a verb, both by their endings."""
    base = verb.removesuffix("s").removesuffix("e")
    ways = (f"{base}ed", f"{base}{base[-1:]}ed", f"{base[:-1]}ied")
    return not phrase.role and len(base) > 2 and len(phrase.forms) == 1 and phrase.forms[0] in ways


def _alike(new: ClauseStatement, old: ClauseStatement) -> Met | None:
    """Meet two that tell the same, where nothing else may be concluded."""
    mine, yours = (
        (one.subject, one.attribute, one.negated, one.change, one.unsure, one.replaced) for one in (new, old)
    )
    if mine != yours:
        return None
    lost, added = differing(new, old)
    return None if lost or added else SAME


def _since_changed(new: ClauseStatement, old: ClauseStatement) -> Met | None:
    """Meet "the meeting moved to Thursday" and, later, "the meeting is on Friday"."""
    if new.attribute in _TELLS_CHANGE:
        return None
    left = result_of(old)
    if left is old or not same_subject(new, left) or new.negated or left.attribute != new.attribute:
        return None
    met = filled(new, left)
    return met if met is not None and met.kind == "after" else None


def _other_holder(new: ClauseStatement, old: ClauseStatement) -> Met | None:
    """Meet "Paula maintains the parser" and "Omar maintains the parser now": one does at a time."""
    if new.attribute != old.attribute or new.attribute not in WORDS["roles"] or not new.now:
        return None
    if new.negated or old.negated or new.past or old.past or not (new.person and old.person):
        return None
    lost, added = differing(new, old)
    if lost or any(not phrase.since for phrase in added) or not old.phrases:
        return None
    return Met(kind="after", reason=f"{new.about} does now what {old.about} did before.")


def _denied(new: ClauseStatement, old: ClauseStatement) -> Met | None:
    """Meet a statement and its negation: neither may say more than the other denies."""
    denying, stating = (new, old) if new.negated else (old, new)
    for phrase in denying.phrases:
        if not phrase.since and not any(_covers(phrase, other) for other in stating.phrases):
            return None
    if new.past or (old.past and not new.ended):
        return Met(kind="against", reason="One denies what the other says of the past.")
    word = "no longer holds" if new.negated else "holds again"
    return Met(kind="after", reason=f"What was said of {new.about or old.about} {word}.")


def _covers(denied: Phrase, stated: Phrase) -> bool:
    """Say whether to deny one phrase is to deny another: who likes no dogs likes no big dogs."""
    if denied.kind != stated.kind:
        return False
    mine, yours = set(denied.forms), set(stated.forms)
    return mine == yours or (denied.kind == "thing" and mine < yours)


def _works_again(new: ClauseStatement, old: ClauseStatement) -> Met | None:
    """Meet "the dishwasher is broken" and "the dishwasher works again"."""
    if {_state_alone(new), _state_alone(old)} != {"works"} or new.past:
        return None
    return Met(kind="after", reason=f"The state of {new.about or old.about} is another now.")


def _state_alone(statement: ClauseStatement) -> str:
    if statement.attribute in ("work", "run") and not statement.phrases:
        return "works"
    first = statement.phrases[0] if statement.attribute == "is" and statement.phrases else None
    return "" if first is None else state_of(first)


def _another_of_its_kind(new: ClauseStatement, old: ClauseStatement) -> Met | None:
    """Meet "I bank with Barclays" and "I'm with Monzo now": said otherwise, of one kind."""
    if not new.now or new.past or old.past or new.negated or old.attribute in WORDS["has_many"]:
        return None
    if new.attribute in WORDS["has_many"]:
        return None
    for after in new.phrases:
        kind = class_of(after)
        before = next((one for one in old.phrases if kind and class_of(one) == kind), None)
        if before is not None and before.forms != after.forms:
            return instead(new, after, before, sure=False)
    return None
