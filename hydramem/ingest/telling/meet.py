"""How a new statement meets an old one.

Two statements meet where they speak of the same thing by the same attribute. What then differs decides: a
number, date or time of a thing that has one such; a name or place that a verb leaves room for once; a state
out of several that exclude each other. Everything else may well be true side by side, and is left so.
"""

from dataclasses import replace

from hydramem.ingest.telling import words
from hydramem.ingest.telling.changes import changed, given_up, result_of
from hydramem.ingest.telling.fill import QUANTITIES, filled
from hydramem.ingest.telling.kinds import class_of, state_of
from hydramem.ingest.telling.pair import SAME, Met, differing, instead, same_subject
from hydramem.ingest.telling.parts import Phrase, Statement, thing_of
from hydramem.ingest.telling.reading import Reading

_TELLS_CHANGE = ("change", "drop", "replace")


def meet(new: Statement, old: Statement, told: Reading) -> Met | None:
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


def _turned_round(new: Statement, old: Statement) -> Met | None:
    """Meet "the cows are milked" and "we milk the cows"."""
    passive, active = (new, old) if new.attribute == "is" else (old, new)
    thing = thing_of(active.phrases)
    if passive.attribute != "is" or thing is None or not passive.phrases or new.negated or old.negated:
        return None
    if thing.owned or new.past or old.past or frozenset(thing.forms) != passive.subject:
        return None
    placed = active.attribute.removesuffix("s") in words.KEEPING
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


def _alike(new: Statement, old: Statement) -> Met | None:
    """Meet two that tell the same, where nothing else may be concluded."""
    mine, yours = (
        (one.subject, one.attribute, one.negated, one.change, one.unsure, one.replaced) for one in (new, old)
    )
    if mine != yours:
        return None
    lost, added = differing(new, old)
    return None if lost or added else SAME


def _since_changed(new: Statement, old: Statement) -> Met | None:
    """Meet "the meeting moved to Thursday" and, later, "the meeting is on Friday"."""
    if new.attribute in _TELLS_CHANGE:
        return None
    left = result_of(old)
    if left is old or not same_subject(new, left) or new.negated or left.attribute != new.attribute:
        return None
    met = filled(new, left)
    return met if met is not None and met.kind == "after" else None


def _other_holder(new: Statement, old: Statement) -> Met | None:
    """Meet "Paula maintains the parser" and "Omar maintains the parser now": one does at a time."""
    if new.attribute != old.attribute or new.attribute not in words.ROLES or not new.now:
        return None
    if new.negated or old.negated or new.past or old.past or not (new.person and old.person):
        return None
    lost, added = differing(new, old)
    if lost or any(not phrase.since for phrase in added) or not old.phrases:
        return None
    return Met(kind="after", reason=f"{new.about} does now what {old.about} did before.")


def _denied(new: Statement, old: Statement) -> Met | None:
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


def _works_again(new: Statement, old: Statement) -> Met | None:
    """Meet "the dishwasher is broken" and "the dishwasher works again"."""
    if {_state_alone(new), _state_alone(old)} != {"works"} or new.past:
        return None
    return Met(kind="after", reason=f"The state of {new.about or old.about} is another now.")


def _state_alone(statement: Statement) -> str:
    if statement.attribute in ("work", "run") and not statement.phrases:
        return "works"
    first = statement.phrases[0] if statement.attribute == "is" and statement.phrases else None
    return "" if first is None else state_of(first)


def _another_of_its_kind(new: Statement, old: Statement) -> Met | None:
    """Meet "I bank with Barclays" and "I'm with Monzo now": said otherwise, of one kind."""
    if not new.now or new.past or old.past or new.negated or old.attribute in words.HAS_MANY:
        return None
    if new.attribute in words.HAS_MANY:
        return None
    for after in new.phrases:
        kind = class_of(after)
        before = next((one for one in old.phrases if kind and class_of(one) == kind), None)
        if before is not None and before.forms != after.forms:
            return instead(new, after, before, sure=False)
    return None
