"""What one statement is to another: the same, more, its end, its successor, its contrary, or nothing to it.

Two statements meet where they speak of the same thing by the same attribute. What then differs decides: a
number, date or time of a thing that has one such; a name or place that a verb leaves room for once; a state
out of several that exclude each other. Everything else may well be true side by side, and is left so.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from hydramem.ingest import telling_words as words
from hydramem.ingest.telling import Phrase, Reading, Statement, words_of

_PLACES = ("at", "under", "near", "with", "over")
_SPEAKERS = frozenset({"i", "we"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Met:
    """How a new statement meets an old one.

    Attributes:
        reason: A sentence for a person.
        sure: False where it holds only if no other memory asks for the same.
    """

    kind: Literal["same", "more", "after", "against"]
    reason: str
    sure: bool = True


def meet(new: Statement, old: Statement, told: Reading) -> Met | None:
    """Say how a new statement meets an old one; None where it does not.

    Args:
        new: What is stated now.
        old: What was stated.
        told: The whole text of the new one.
    """
    if old.attribute in ("drop", "replace") or old.unsure or new.unsure:
        return _alike(new, old)
    found = _given_up(new, old, told) or _changed(new, old)
    if found is not None:
        return found
    if not _same_subject(new, old) or new.attribute in ("change", "drop", "replace"):
        return None
    if _fields(new) != _fields(old):
        return _state_of_working(new, old)
    if new.negated != old.negated:
        return _denied(new, old)
    return _filled(new, old)


def _alike(new: Statement, old: Statement) -> Met | None:
    same = (new.subject, new.attribute, new.negated, new.change, new.unsure)
    if same != (old.subject, old.attribute, old.negated, old.change, old.unsure):
        return None
    lost, added = _differing(new, old)
    return None if lost or added else Met(kind="same", reason="It says the same.")


def _fields(statement: Statement) -> str:
    return statement.attribute


def _same_subject(new: Statement, old: Statement) -> bool:
    if new.subject == old.subject:
        return bool(new.subject) and (not new.owners or not old.owners or new.owners == old.owners)
    # "the GP" after "my GP": only where the new one says that something changed.
    mine, yours = new.subject - _SPEAKERS, old.subject - _SPEAKERS
    return new.now and bool(mine) and mine == yours and not (new.subject & old.subject & _SPEAKERS)


# -- what is given up -------------------------------------------------------------------------------------


def _given_up(new: Statement, old: Statement, told: Reading) -> Met | None:
    """Meet "MySQL instead of PostgreSQL", "Tom left Siemens": what was said is named as no longer so."""
    if not new.replaced or old.negated or (old.past and old.attribute not in ("have",)):
        return None
    held = words_of(old.phrases)
    if not new.replaced <= held | {"the"} or new.replaced <= old.subject:
        return None
    said = {words.SPEAKER.get(form, form) for form in told.forms} | new.subject
    if not old.subject <= said or not _one_purpose(new, old):
        return None
    if old.attribute in words.HAS_MANY and old.attribute not in ("have", "go") and not new.now:
        return None
    gone = " ".join(sorted(new.replaced))
    return Met(kind="after", reason=f"It says that {gone} is given up, which the one before tells of.")


def _one_purpose(new: Statement, old: Statement) -> bool:
    mine, yours = (
        {phrase.forms for phrase in statement.phrases if phrase.role == "for"} for statement in (new, old)
    )
    return not mine or not yours or mine == yours


# -- what is changed --------------------------------------------------------------------------------------


def _changed(new: Statement, old: Statement) -> Met | None:
    """Meet "the service moved to MySQL", "we raised the limit to 250"."""
    if new.attribute != "change" or new.negated or old.negated or old.past:
        return None
    target = _target(new)
    if target is None:
        return None
    theme, objected = _theme(new)
    before, sure = _before(theme, target, new, old, objected=objected)
    if before is None or before.forms == target.forms:
        return None
    return Met(kind="after", reason=_now(new, target, before), sure=sure)


def _target(new: Statement) -> Phrase | None:
    wanted = {"number": ("number",), "date": ("date", "clock"), "move": ("thing", "date", "clock", "number")}
    kinds = wanted[new.change]
    fitting = [phrase for phrase in new.phrases if phrase.kind in kinds]
    for roles in (("to",), ("at", "after"), ("", "by")):
        aimed = [phrase for phrase in fitting if phrase.role in roles]
        if roles == ("", "by"):
            aimed = [phrase for phrase in aimed if phrase.kind != "thing"]
        if aimed:
            return aimed[-1] if roles != ("",) else aimed[0]
    return None


def _theme(new: Statement) -> tuple[frozenset[str], bool]:
    """Return what changed: the object where there is one, else the subject."""
    thing = next(
        (
            phrase
            for phrase in new.phrases
            if phrase.kind == "thing" and not phrase.role and phrase.forms != ("out",)
        ),
        None,
    )
    return (frozenset(thing.forms), True) if thing is not None else (new.subject, False)


def _before(
    theme: frozenset[str], target: Phrase, new: Statement, old: Statement, *, objected: bool
) -> tuple[Phrase | None, bool]:
    """Return what the target takes the place of, and whether that is sure."""
    bare, spoken = theme - _SPEAKERS, old.subject - _SPEAKERS
    others = old.phrases
    if (not objected and theme <= _SPEAKERS) or not bare:
        return _of_speaker(theme, target, old)
    if bare == spoken:
        return _place_of(target, others, old), True
    purpose = next((p for p in others if p.kind == "thing" and set(p.forms) - _SPEAKERS == bare), None)
    if purpose is not None and (not objected or new.subject == old.subject or target.kind == "number"):
        return _place_of(target, [p for p in others if p is not purpose], old), True
    head = bare < spoken and not any(form.isdigit() for form in spoken - bare)
    if head and (new.definite or objected):
        return _place_of(target, others, old), False
    return None, False


def _of_speaker(theme: frozenset[str], target: Phrase, old: Statement) -> tuple[Phrase | None, bool]:
    """Of "we switched to MySQL": what we used, where both are of a kind; of "I moved": where I lived."""
    if theme != old.subject:
        return None, False
    fitting = [phrase for phrase in old.phrases if phrase.kind == target.kind == "thing"]
    classed = [phrase for phrase in fitting if _class(phrase) and _class(phrase) == _class(target)]
    if classed and old.attribute not in words.HAS_MANY:
        return classed[0], True
    if old.attribute in ("live", "stay") and not _class(target):
        return next((phrase for phrase in fitting if phrase.role == "at"), None), True
    if old.attribute == "use" and target.named and not _class(target):
        return next((p for p in fitting if not p.role and p.named and not _class(p)), None), False
    return None, False


def _place_of(target: Phrase, others: Sequence[Phrase], old: Statement) -> Phrase | None:
    for phrase in others:
        if phrase.kind != target.kind:
            continue
        if phrase.kind == "number" and phrase.unit != target.unit:
            continue
        if phrase.kind == "thing":
            classes = {_class(phrase), _class(target)} - {""}
            placed = phrase.role in ("", *_PLACES, "for", "to")
            if len(classes) > 1 or not placed or old.attribute in words.HAS_MANY:
                continue
        return phrase
    return None


# -- what is denied ---------------------------------------------------------------------------------------


def _denied(new: Statement, old: Statement) -> Met | None:
    """Meet a statement and its negation: neither may say more than the other denies."""
    denying, stating = (new, old) if new.negated else (old, new)
    for phrase in denying.phrases:
        if not any(_within(phrase, other) for other in stating.phrases):
            return None
    if new.past or (old.past and not new.ended):
        return Met(kind="against", reason="One denies what the other says of the past.")
    word = "no longer holds" if new.negated else "holds again"
    return Met(kind="after", reason=f"What was said of {new.about or old.about} {word}.")


def _within(phrase: Phrase, other: Phrase) -> bool:
    if phrase.kind != other.kind:
        return False
    mine, yours = set(phrase.forms), set(other.forms)
    return mine == yours or (phrase.kind == "thing" and (mine < yours or yours < mine))


def _state_of_working(new: Statement, old: Statement) -> Met | None:
    """Meet "the dishwasher is broken" and "the dishwasher works again"."""
    states = {_state_alone(new), _state_alone(old)}
    if states == {"works"} and new.negated == old.negated and not new.past:
        return Met(kind="after", reason=f"The state of {new.about or old.about} is another now.")
    return None


def _state_alone(statement: Statement) -> str:
    if statement.attribute in ("work", "run") and not statement.phrases:
        return "works"
    first = statement.phrases[0] if statement.attribute == "is" and statement.phrases else None
    return "" if first is None else _state(first)


# -- what fills the place ---------------------------------------------------------------------------------


def _filled(new: Statement, old: Statement) -> Met | None:
    lost, added = _differing(new, old)
    if not lost and not added:
        # What was done once may have been done again.
        return None if new.past and new.change == "" else Met(kind="same", reason="It says the same.")
    if not lost:
        return Met(kind="more", reason="It says the same, and more.")
    if not added or new.negated:
        return None
    if len(lost) == 1 and any(_extends(phrase, lost[0]) for phrase in added):
        return Met(kind="more", reason="It says the same, and more.")
    pairs = _paired(lost, added, cue=new.now)
    if not pairs:
        return None
    before, after = pairs[0]
    if new.attribute in words.LASTING and new.past and old.past:
        return Met(kind="against", reason=f"That happened once: {before.text} or {after.text}.")
    if new.past or old.past or not all(_exclusive(new, old, after, before) for before, after in pairs):
        return None
    return Met(kind="after", reason=_now(new, after, before))


def _now(new: Statement, after: Phrase, before: Phrase) -> str:
    return f"Of {new.about or 'the same'}, it says {after.text}, where the one before says {before.text}."


def _differing(new: Statement, old: Statement) -> tuple[list[Phrase], list[Phrase]]:
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
    if attribute == "work" and phrase.role in ("for", "by"):
        return "at"
    if attribute == "prefer" and phrase.role in ("over", "to", "than"):
        return "than"
    if phrase.kind in ("number", "date", "clock") or phrase.role in ("of", "~", "with", "including"):
        return ""
    return phrase.role


def _extends(phrase: Phrase, lost: Phrase) -> bool:
    return phrase.kind == lost.kind == "thing" and set(lost.forms) < set(phrase.forms)


def _paired(lost: list[Phrase], added: list[Phrase], *, cue: bool) -> list[tuple[Phrase, Phrase]]:
    """Return the differing phrases in pairs; nothing where that cannot be done for certain."""
    pairs, free = [], list(added)
    for before in lost:
        after = next((phrase for phrase in free if _comparable(before, phrase)), None)
        if after is not None:
            free.remove(after)
            pairs.append((before, after))
    alone = len(lost) - len(pairs)
    if not pairs or (free and not cue) or (alone and not cue):
        return []
    if len(pairs) > 1 and any(pair[0].kind == "thing" for pair in pairs):
        return []
    return pairs


def _comparable(before: Phrase, after: Phrase) -> bool:
    if before.kind != after.kind:
        return False
    if before.kind == "number":
        return before.unit == after.unit
    placed = before.role in _PLACES and after.role in _PLACES
    return before.kind != "thing" or before.role == after.role or placed


def _exclusive(new: Statement, old: Statement, after: Phrase, before: Phrase) -> bool:
    """Say whether the attribute leaves room for one of two phrases only."""
    attribute = new.attribute
    match before.kind:
        case "number":
            return attribute not in words.HAS_MANY or attribute == "have"
        case "date" | "clock":
            return _one_time(new, after)
    if _state(before) and _state(before) == _state(after):
        return True
    classes = {_class(before), _class(after)}
    if len(classes - {""}) > 1 or attribute in words.HAS_MANY or after.article in words.INDEFINITES:
        return False
    if attribute in ("use", "prefer", "drink"):
        return _one_choice(new, old, classes)
    if attribute == "is" and not before.role:
        return _one_value(new, old, after, before, classes)
    if before.role in _PLACES or (attribute, before.role) in words.ONE_OTHER:
        return _one_place(new, old, after, before)
    return new.now and len(classes) == 1 and "" not in classes


def _one_time(new: Statement, after: Phrase) -> bool:
    if new.attribute not in words.SCHEDULED:
        return new.now and new.attribute not in words.HAS_MANY
    recurring = after.forms[0].endswith("*")
    several = new.attribute in ("open", "close") or (new.attribute == "arrive" and new.person)
    return new.now or not (several and (recurring or new.person))


def _one_choice(new: Statement, old: Statement, classes: set[str]) -> bool:
    """Of what is used or preferred: one for one purpose, and one of a kind where it is said to be new."""
    shared = {p.forms for p in new.phrases} & {p.forms for p in old.phrases}
    same_kind = len(classes) == 1 and "" not in classes
    if new.attribute == "use":
        return bool(shared) or (new.now and same_kind)
    return same_kind or (new.now and bool(shared))


def _one_value(new: Statement, old: Statement, after: Phrase, before: Phrase, classes: set[str]) -> bool:
    """Of "X is Y": one where X is a thing that has one, as "the manager", or Y is a name."""
    heads = new.subject - new.owners
    if not heads.isdisjoint(words.SEVERAL):
        return False
    certain = not heads.isdisjoint(words.ATTRIBUTES)
    if certain or (len(classes) == 1 and "" not in classes and new.now):
        return True
    return old.definite and not new.person and before.named and after.named and not before.article


def _one_place(new: Statement, old: Statement, after: Phrase, before: Phrase) -> bool:
    if new.attribute not in words.PLACED:
        return False
    if new.attribute != "is" or new.now:
        return after.named or before.forms[:1] == after.forms[:1] or new.attribute == "is"
    alike = before.forms[:1] == after.forms[:1] or (before.named and after.named)
    return alike or old.definite


def _state(phrase: Phrase) -> str:
    return "" if phrase.owned or phrase.article else words.STATES.get(phrase.forms[-1], "")


def _class(phrase: Phrase) -> str:
    """Return what kind of thing a phrase names, where that is known."""
    whole = words.CLASSES.get("-".join(phrase.forms))
    if whole is not None:
        return whole
    return next((words.CLASSES[form] for form in phrase.forms if form in words.CLASSES), "")
