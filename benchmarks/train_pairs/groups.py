"""Groups of sentences from which training pairs are made: their text format, and how slots are filled.

A file begins with lists of slot values (`@town: Cork, Izmir`), then has groups: `=changes OLD TEXT`, and
lines that say what a new text is to it: `d` duplicate, `u` update, `r` refine, `c` contradict, `n` unrelated.
`benchmarks/data/pairs/FORMAT.md` describes it for authors.
"""

import random
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

Label = Literal["update", "duplicate", "refine", "contradict", "unrelated"]
Kind = Literal["changes", "fixed", "many"]
LABELS: tuple[Label, ...] = ("update", "duplicate", "refine", "contradict", "unrelated")
_LETTERS: Mapping[str, Label] = {
    "d": "duplicate",
    "u": "update",
    "r": "refine",
    "c": "contradict",
    "n": "unrelated",
}
_SLOT = re.compile(r"\{([A-Za-z_]+?)(\d?)([!*]?)\}")
_PEOPLE = [
    "Anna",
    "Ben",
    "Carla",
    "Dmitri",
    "Elena",
    "Farid",
    "Greta",
    "Hassan",
    "Ines",
    "Jonas",
    "Karim",
    "Lena",
    "Marco",
    "Nadia",
    "Oleg",
    "Priya",
    "Quentin",
    "Rosa",
    "Samir",
    "Tara",
    "Umar",
    "Vera",
    "Wei",
    "Ximena",
    "Yusuf",
    "Zoe",
    "Aiko",
    "Bruno",
    "Chidi",
    "Dana",
    "Emil",
    "Freya",
    "Goran",
    "Hana",
    "Ivan",
    "Julia",
    "Kofi",
    "Luis",
    "Mei",
    "Noah",
    "Olivia",
    "Pablo",
    "Ruth",
    "Stefan",
    "Tom",
    "Ursula",
    "Viktor",
    "Wanda",
    "Abena",
    "Bjarne",
    "Celeste",
    "Dario",
    "Eszter",
    "Fatou",
]
_SURNAMES = [
    "Adler",
    "Brandt",
    "Castro",
    "Dube",
    "Eriksen",
    "Ferrari",
    "Gupta",
    "Haddad",
    "Ito",
    "Jansen",
    "Kowalski",
    "Lim",
    "Moreau",
    "Novak",
]
_WEEKDAYS = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]
_MONTHS = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
]

Slot = tuple[str, int]
"""Name and number of a slot: `{town2}` is ("town", 2), `{town}` ("town", 1)."""


@dataclass(frozen=True, slots=True)
class Line:
    """A sentence of a group with slots."""

    label: Label
    text: str

    @property
    def slots(self) -> frozenset[Slot]:
        """Its slots."""
        return slots(self.text)


@dataclass(frozen=True, slots=True)
class Group:
    """An old text and what new texts are to it.

    Attributes:
        id: File and number.
        kind: What the old sentence with another value is: `changes` an update, `fixed` a contradiction,
            `many` unrelated.
        subject, value: The slots marked as such, or None.
        lists: Values of the file's own slots.
    """

    id: str
    kind: Kind
    old: str
    lines: tuple[Line, ...]
    subject: Slot | None
    value: Slot | None
    lists: Mapping[str, Sequence[str]]

    def texts(self, label: Label) -> tuple[str, ...]:
        """Return the texts of one label."""
        return tuple(line.text for line in self.lines if line.label == label)


def read_groups(path: Path) -> tuple[Group, ...]:
    """Read the groups of a file.

    Raises:
        ValueError: A line has no known form, or names a slot that has no values; the message names it.
    """
    lists: dict[str, Sequence[str]] = {}
    groups: list[Group] = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        text = line.strip()
        place = f"{path.name}:{number}"
        if not text or text.startswith("#"):
            continue
        if text.startswith("@"):
            name, _, values = text[1:].partition(":")
            lists[name.strip()] = tuple(filter(None, (value.strip() for value in values.split(","))))
        elif text.startswith("="):
            groups.append(_group(text[1:], place, lists))
        elif text[:2].rstrip() in _LETTERS and groups:
            groups[-1] = _with_line(groups[-1], Line(_LETTERS[text[0]], text[2:].strip()), place)
        else:
            raise ValueError(f"{place}: {text[:60]!r} is no line of a group")
    return tuple(groups)


def _group(text: str, place: str, lists: Mapping[str, Sequence[str]]) -> Group:
    kind, _, old = text.partition(" ")
    if kind not in ("changes", "fixed", "many"):
        raise ValueError(f"{place}: {kind!r} is no kind of group")
    marks = {match[3]: _slot(match) for match in _SLOT.finditer(old) if match[3]}
    group = Group(
        id=place,
        kind=kind,
        old=old.strip(),
        lines=(),
        subject=marks.get("!"),
        value=marks.get("*"),
        lists=lists,
    )
    _check_slots(old, group, place)
    return group


def _with_line(group: Group, line: Line, place: str) -> Group:
    _check_slots(line.text, group, place)
    return replace(group, lines=(*group.lines, line))


def _check_slots(text: str, group: Group, place: str) -> None:
    for name, _ in slots(text):
        if name not in group.lists and name not in _READY:
            raise ValueError(f"{place}: slot {name!r} has no values")


def _slot(match: re.Match[str]) -> Slot:
    return match[1], int(match[2] or 1)


def slots(text: str) -> frozenset[Slot]:
    """Return the slots of a text."""
    return frozenset(map(_slot, _SLOT.finditer(text)))


@dataclass(slots=True)
class Filling:
    """Values of slots, drawn when they are first asked for; different numbers of one name differ."""

    random: random.Random
    lists: Mapping[str, Sequence[str]]
    values: dict[Slot, str] = field(default_factory=dict)

    def fill(self, text: str) -> str:
        """Fill the slots of a text, and begin it with a capital where it begins with a slot."""
        filled = _SLOT.sub(lambda match: self.value(_slot(match)), text)
        return filled[:1].upper() + filled[1:] if text.startswith("{") else filled

    def value(self, slot: Slot) -> str:
        """Return the value of a slot."""
        if slot not in self.values:
            self.values[slot] = self._other_value(slot[0])
        return self.values[slot]

    def with_other(self, slot: Slot) -> "Filling":
        """Return a copy in which one slot has a value that no slot of its name had."""
        self.value(slot)
        return Filling(self.random, self.lists, {**self.values, slot: self._other_value(slot[0])})

    def moved_on(self, slot: Slot) -> "Filling":
        """Return a copy in which the second value of a slot became the first, and the second is new."""
        second = (slot[0], 2)
        values = {**self.values, slot: self.value(second)}
        values[second] = self._other_value(slot[0])
        return Filling(self.random, self.lists, values)

    def _other_value(self, name: str) -> str:
        taken = {value for (other, _), value in self.values.items() if other == name}
        for _ in range(50):
            value = self._draw(name)
            if value not in taken:
                break
        return value

    def _draw(self, name: str) -> str:
        if name in self.lists:
            return self.random.choice(self.lists[name])
        return _READY[name](self.random)


def _clock(random: random.Random) -> str:
    return random.choice(
        (
            f"{random.randint(6, 22)}:{random.choice(('00', '15', '30', '45'))}",
            f"{random.randint(6, 11)} am",
            f"{random.randint(1, 10)} pm",
        )
    )


def _date(random: random.Random) -> str:
    day, month = random.randint(1, 28), random.choice(_MONTHS)
    return random.choice((f"{day} {month}", f"{month} {day}"))


def _money(random: random.Random) -> str:
    amount = random.choice((random.randint(5, 99), random.randint(10, 900) * 10))
    return random.choice((f"{amount} euros", f"${amount}", f"{amount} pounds", f"€{amount}"))


_READY = {
    "n": lambda random: str(random.randint(2, 9)),
    "m": lambda random: str(random.randint(10, 99)),
    "k": lambda random: random.choice((f"{random.randint(2, 90)},000", str(random.randint(1000, 99000)))),
    "year": lambda random: str(random.randint(1950, 2026)),
    "time": _clock,
    "date": _date,
    "weekday": lambda random: random.choice(_WEEKDAYS),
    "month": lambda random: random.choice(_MONTHS),
    "version": lambda random: (
        f"{random.randint(1, 9)}.{random.randint(0, 14)}{random.choice(('', '.0', '.1'))}"
    ),
    "person": lambda random: random.choice(_PEOPLE),
    "fullname": lambda random: f"{random.choice(_PEOPLE)} {random.choice(_SURNAMES)}",
    "money": _money,
    "percent": lambda random: f"{random.randint(2, 98)}{random.choice(('%', ' percent'))}",
    "id": lambda random: f"{random.choice(('OPS', 'WEB', 'CORE', 'PAY', 'APP'))}-{random.randint(10, 4999)}",
    "port": lambda random: str(random.choice((3000, 4000, 5000, 5432, 6379, 8000, 8080, 8443, 9000, 9090))),
    "ip": lambda random: f"10.{random.randint(0, 9)}.{random.randint(0, 40)}.{random.randint(2, 250)}",
    "email": lambda random: f"{random.choice(_PEOPLE).lower()}{random.randint(1, 99)}@example.org",
    "phone": lambda random: (
        f"0{random.randint(20, 89)} {random.randint(1000, 9999)} {random.randint(100, 999)}"
    ),
}
