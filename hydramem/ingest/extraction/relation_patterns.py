"""The phrases that state a relation, and what relation types imply, from `relation_patterns.toml`."""

import re
from dataclasses import dataclass

from hydramem.text.lexicon import tables


@dataclass(frozen=True, slots=True)
class Pattern:
    """What a phrase states: a type, how often it is right, and whether subject and object change places."""

    type: str
    confidence: float
    inverse: bool


_TABLES = tables("relation_patterns")

PATTERNS = tuple(
    Pattern(type, confidence, bool(turned)) for type, confidence, _, *turned in _TABLES["phrases"]
)
"""By the number of the phrase's group in `TRIGGER`, less one."""

TRIGGER = re.compile(
    r"(?<![\w-])(?:"
    + "|".join(f"({phrase})" for _, _, phrase, *_ in _TABLES["phrases"]).replace("\n", "")
    + r")(?![\w-])"
)

END_TYPES: dict[str, tuple[str, str]] = {
    type: (subject, object) for type, (subject, object) in _TABLES["end_types"].items()
}
KIN = {word: Pattern(type, 0.7, bool(turned)) for word, (type, *turned) in _TABLES["kin"].items()}
DATED = frozenset(_TABLES["dated"])
OF_THE_WORK = frozenset(_TABLES["of_the_work"])
FINITE = frozenset(_TABLES["finite"])
LISTED = frozenset(_TABLES["listed"])
