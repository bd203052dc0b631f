"""Sums over the calls of one day, operation, surface and outcome; those of parts add up to the whole."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

SUMS = ("calls", "hits", "asked", "answered", "rated", "relevance", "tokens", "baseline", "compared")
"""The sums of a `Totals`, in the order of the columns of the table `days`."""


class Key(NamedTuple):
    """What calls are summed by; `outcome` is empty where they returned."""

    day: str
    operation: str
    surface: str
    outcome: str


@dataclass(slots=True, kw_only=True)
class Totals:
    """Sums over calls.

    Attributes:
        asked, answered: Calls with a question, and those of them that were answered.
        rated: Calls whose best hit has a relevance, of which `relevance` is the sum.
        tokens: Tokens returned to agents; `compared` those of calls whose `baseline` is known.
        latency: Calls by bucket of `latency_histogram`.
    """

    calls: int = 0
    hits: int = 0
    asked: int = 0
    answered: int = 0
    rated: int = 0
    relevance: float = 0.0
    tokens: int = 0
    baseline: int = 0
    compared: int = 0
    latency: Counter[int] = field(default_factory=Counter)

    def add(self, other: "Totals") -> None:
        """Add the sums of other calls."""
        for name in SUMS:
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.latency.update(other.latency)


def summed(parts: Iterable[tuple[Key, Totals]]) -> dict[Key, Totals]:
    """Add up the totals of equal keys."""
    found: dict[Key, Totals] = {}
    for key, totals in parts:
        found.setdefault(key, Totals()).add(totals)
    return found


Measures = Mapping[tuple[str, str], tuple[int, float]]
"""By day and name, how often something was measured and the sum of it."""
