"""Labelled pairs from groups: what a new text is to an old one, in many combinations, with natural noise."""

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from benchmarks.train_pairs.groups import Filling, Group, Kind, Label, slots

_OF_KIND: dict[Kind, Label] = {"changes": "update", "fixed": "contradict", "many": "unrelated"}
_LEADS = (
    "Note: ",
    "FYI ",
    "- ",
    "* ",
    "Update: ",
    "Reminder: ",
    "2025-03-14: ",
    "[12 May 2026] ",
    "The user said that ",
    "User mentioned: ",
    "According to the user, ",
    "I was told that ",
    "From the call: ",
    "As discussed, ",
    "For the record: ",
    "ok so ",
)
_TAILS = (
    " (confirmed)",
    " [from chat]",
    ", as far as I know",
    " (see ticket)",
    ", they said",
    " #todo",
    " (2026)",
)


@dataclass(frozen=True, slots=True)
class Pair:
    """An old and a new text, and what the new one is to the old one.

    Attributes:
        group: The group it was made of; groups are never split over parts.
        how: How it was made.
    """

    old: str
    new: str
    label: Label
    group: str
    how: str


def pairs_of(group: Group, draw: random.Random, *, amount: float = 1.0) -> list[Pair]:
    """Return the pairs of a group, each once.

    Args:
        draw: Source of chance.
        amount: How many of the combinations to take; 1 gives about forty.
    """
    found: dict[tuple[str, str], Pair] = {}
    for label, old, new, fillings, how in _combinations(group, draw, amount):
        pair = Pair(
            old=_noisy(fillings[0].fill(old), draw),
            new=_noisy(fillings[1].fill(new), draw),
            label=label,
            group=group.id,
            how=how,
        )
        if _plain(pair.old) != _plain(pair.new) or label == "duplicate":
            found.setdefault((pair.old, pair.new), pair)
    return list(found.values())


_Combination = tuple[Label, str, str, tuple[Filling, Filling], str]
_Sample = Callable[[Sequence[tuple[str, str]], int], list[tuple[str, str]]]


def _combinations(group: Group, draw: random.Random, amount: float) -> Iterator[_Combination]:
    same = (group.old, *group.texts("duplicate"))
    told, more = group.texts("update"), group.texts("refine")
    denied, other = group.texts("contradict"), group.texts("unrelated")

    def taken(pool: Sequence[tuple[str, str]], count: int) -> list[tuple[str, str]]:
        return draw.sample(pool, min(len(pool), max(1, round(count * amount)))) if pool else []

    def equal() -> tuple[Filling, Filling]:
        filling = Filling(draw, group.lists)
        return filling, filling

    for line in group.lines:
        yield line.label, group.old, line.text, equal(), "line"
    crossed: tuple[tuple[Label, Sequence[str], Sequence[str], int], ...] = (
        ("update", same[1:], told, 7),
        ("update", more, told, 2),
        ("contradict", same[1:], denied, 6),
        ("refine", same[1:], more, 4),
        ("unrelated", same[1:], other, 6),
        ("unrelated", other, same, 4),
        ("duplicate", more, same, 2),
    )
    for label, olds, news, count in crossed:
        for old, new in taken([(old, new) for old in olds for new in news], count):
            yield label, old, new, equal(), "cross"
    for old, new in taken([(old, new) for old in same for new in same if old != new], 8):
        yield "duplicate", old, new, equal(), "cross"
    again = draw.choice(same)
    yield "duplicate", again, again, equal(), "again"
    yield from _with_other_values(group, draw, taken)


def _with_other_values(group: Group, draw: random.Random, pick: _Sample) -> Iterator[_Combination]:
    """Yield pairs of which the second has another subject, or another value."""
    same = (group.old, *group.texts("duplicate"))
    told, more = group.texts("update"), group.texts("refine")
    if group.value is not None:
        value = group.value
        both = [
            (old, new)
            for old in same
            for new in (*same, *more)
            if value in slots(old) and value in slots(new)
        ]
        for old, new in pick(both, 6):
            first = _filled(group, draw, old, new)
            yield _OF_KIND[group.kind], old, new, (first, first.with_other(value)), "value"
        chained = [text for text in told if (value[0], 2) in slots(text)]
        for old, new in pick([(old, new) for old in chained for new in chained if old != new], 3):
            first = _filled(group, draw, old, new)
            yield "update", old, new, (first, first.moved_on(value)), "chain"
    if group.subject is not None:
        subject = group.subject
        both = [
            (old, new)
            for old in (*same, *more)
            for new in (*told, *same, *more)
            if subject in slots(old) and subject in slots(new)
        ]
        for old, new in pick(both, 7):
            first = _filled(group, draw, old, new)
            yield "unrelated", old, new, (first, first.with_other(subject)), "subject"


def _filled(group: Group, draw: random.Random, old: str, new: str) -> Filling:
    filling = Filling(draw, group.lists)
    filling.fill(old)
    filling.fill(new)
    return filling


def strangers(groups: Sequence[Group], count: int, draw: random.Random) -> list[Pair]:
    """Return pairs of different groups, near ones first: those whose subjects are of one kind."""
    found = []
    for _ in range(count):
        one = draw.choice(groups)
        near = [
            group
            for group in groups
            if group is not one and group.subject and one.subject and group.subject[0] == one.subject[0]
        ]
        other = draw.choice(near) if near and draw.random() < 0.6 else draw.choice(groups)
        if other is one:
            continue
        first = Filling(draw, one.lists)
        second = Filling(draw, other.lists)
        old = draw.choice((one.old, *one.texts("duplicate"), *one.texts("refine")))
        new = draw.choice((other.old, *other.texts("duplicate"), *other.texts("update")))
        if one.subject and other.subject and one.subject[0] == other.subject[0]:
            second.values[other.subject] = first.value(one.subject)
        texts = _noisy(first.fill(old), draw), _noisy(second.fill(new), draw)
        found.append(
            Pair(old=texts[0], new=texts[1], label="unrelated", group=f"{one.id}+{other.id}", how="stranger")
        )
    return found


def crossings(groups: Sequence[Group], count: int, draw: random.Random) -> list[Pair]:
    """Return pairs of different groups that share a thing: one says it of another, one says more of it.

    "Ada leads the billing team." and "The billing team uses MySQL." are both true.
    """
    valued: dict[tuple[str, str], list[Group]] = {}
    told: dict[tuple[str, str], list[Group]] = {}
    for group in groups:
        file = group.id.partition(":")[0]
        if group.value:
            valued.setdefault((file, group.value[0]), []).append(group)
        if group.subject:
            told.setdefault((file, group.subject[0]), []).append(group)
    shared = sorted(valued.keys() & told.keys())
    found = []
    for _ in range(count):
        key = draw.choice(shared)
        one, other = draw.choice(valued[key]), draw.choice(told[key])
        if one is other or one.value is None or other.subject is None:
            continue
        first, second = Filling(draw, one.lists), Filling(draw, other.lists)
        second.values[other.subject] = first.value(one.value)
        texts = [
            _noisy(first.fill(draw.choice((one.old, *one.texts("duplicate")))), draw),
            _noisy(second.fill(draw.choice((other.old, *other.texts("duplicate")))), draw),
        ]
        draw.shuffle(texts)
        place = f"{one.id}+{other.id}"
        found.append(Pair(old=texts[0], new=texts[1], label="unrelated", group=place, how="crossing"))
    return found


def _plain(text: str) -> str:
    return " ".join(text.casefold().split()).strip(" .!")


def _noisy(text: str, draw: random.Random, share: float = 0.35) -> str:
    """Return a text as people write it: wrapped, without its full stop, in lower case, misspelt."""
    if draw.random() >= share or len(text) < 4:
        return text
    match draw.randrange(8):
        case 0 | 1:
            return text.rstrip(".")
        case 2:
            return text.lower().rstrip(".")
        case 3 | 4 | 5:
            lead = draw.choice(_LEADS)
            lower = lead.endswith(("that ", "user, ", "discussed, ", "so ")) and not text[1:2].isupper()
            named = text.split()[0].rstrip("'s").istitle() and draw.random() < 0.5
            return lead + (text[0].lower() + text[1:] if lower and not named else text)
        case 6:
            return text.rstrip(".") + draw.choice(_TAILS) + "."
        case _:
            place = draw.randrange(1, len(text) - 2)
            pair = text[place : place + 2]
            return text[:place] + pair[::-1] + text[place + 2 :] if pair.isalpha() else text


def turned(pair: Pair) -> Pair:
    """Return an unrelated pair with its texts in the other order."""
    return replace(pair, old=pair.new, new=pair.old)
