"""The values that extraction returns, by rules, by a model or from an agent."""

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

How = Literal["rules", "indirect", "parse", "both", "given"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Name:
    """A thing that a text names.

    Attributes:
        aliases: Other names by which the same thing may be known.
        count: How often this text names it; a title or heading counts `ABOUT` times.
        lasting: Whether the aliases are names of its own (kept), or only ways to find a known entity.
    """

    name: str
    type: str = "thing"
    aliases: tuple[str, ...] = ()
    count: int = 1
    description: str | None = None
    lasting: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """A relation that a text states between two things that it names.

    Attributes:
        how: What found it: rules with the subject beside the phrase, rules with a subject that they supplied,
            a parse, rules and a parse alike, or else a model or caller.
    """

    subject: str
    type: str
    object: str
    confidence: float
    quote: str | None
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    how: How = "given"


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What one chunk names and states."""

    names: tuple[Name, ...] = ()
    claims: tuple[Claim, ...] = ()


def folded_words(text: str) -> str:
    """Return a text without regard to case and white space, to look for a quote in it."""
    return " ".join(text.casefold().split())
