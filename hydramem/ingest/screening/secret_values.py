"""Judges single values by alphabet and entropy: random ones, password-like ones, and placeholders."""

import math
import re
from collections import Counter
from dataclasses import dataclass
from itertools import pairwise

from hydramem.core.package_data import data_tables

_WORDS = data_tables("secret_forms")["stand_ins"]["words"]
_STAND_IN = re.compile(
    r"(?i)(?:(?:" + "|".join(sorted(_WORDS, key=len, reverse=True)) + r")[\W\d_]*+)++|"
    # Expressions that read a value in programs, and paths.
    r"(?:\$[a-z_{(]|%[a-z_]+%|[<{\[@]|#\d|/|~/|\.{1,2}/|(?:os|process|self|this|vault|secrets?|env)\.|file:|"
    r"(?:getenv|config|settings|options|args|env|vault)[.(\[]).*+",
    re.DOTALL,
)
# Characters that hide the rest of a value, and words within one that say it is none.
_HIDDEN = re.compile(
    r"(?i)[*•]{3}|\.{3}|…|x{5}|(?P<same>[^\W_])(?P=same){6}|example|redacted|placeholder|changeme"
)
# What many know: public keys, digests with their names, pictures and documents in base64.
_PUBLIC = re.compile(
    r"(?:AAAA[BCE]|ssh-|(?i:sha-?\d|md5|hmac|argon2|bcrypt|scrypt|pbkdf2)|data:|iVBORw0KGgo|R0lGOD|/9j/|UklGR|PHN2Zy|PD94bW|JVBERi0|UEsDB)"
)
_UNSIGNED = re.compile(r"eyJ[A-Za-z0-9_-]*+(?:\.[A-Za-z0-9_-]*+\.?)?")
# A variable or an attribute in a program that holds one.
_REFERENCE = re.compile(
    r"(?i)(?=[^\d]*+$)(?=.{0,60}?(?:pass|pwd|secret|token|key|auth|user|request))[a-z_]\w*+(?:\.[a-z_]\w*+)*+|"
    r"(?-i:[a-z_][a-z0-9_]*+(?:\.[a-z_][a-z0-9_]*+)++)"
)
_UUID = re.compile(r"(?i)[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}")
_IDENTIFIER = re.compile(r"(?i)[a-z_]{2,40}(?:[._-][a-z_]{2,40})*+\d?")
# Words and numbers between separators: names of machines, versions, paths, dates.
_PARTS = re.compile(r"(?i)(?:(?:[a-z]++\d{0,4}+|\d{1,4}+)(?:[._:/@-]++|$))++")
_ADDRESS = re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+")
_RARE = frozenset("!@#$%^&*?+~|")
_LEAST_RANDOM = 16
_LEAST_STRONG = 8
_ENTROPY = 3.0
_LEAST_SWITCHES = 0.25


@dataclass(frozen=True, slots=True, kw_only=True)
class Secret:
    """A secret in a text: its kind and its place."""

    kind: str
    start: int
    end: int


def is_public(value: str) -> bool:
    """Return whether a value only stands for a secret, or is of a form that is no secret by itself.

    Those are placeholders of manuals, expressions of programs, hidden values, public keys, digests with
    their name, pictures in base64 and web tokens without a signature.
    """
    return bool(
        _STAND_IN.fullmatch(value)
        or _HIDDEN.search(value)
        or _PUBLIC.match(value)
        or _UNSIGNED.fullmatch(value)
        or _REFERENCE.fullmatch(value)
        or "://" in value
    )


def is_random(value: str, least: int = _LEAST_RANDOM) -> bool:
    """Return whether a value looks drawn at random: its characters are many and change their class often.

    A capital before a small letter begins a word and is no change, so names in camel case hold few.

    Args:
        value: The value.
        least: The fewest letters and digits.
    """
    core = "".join(letter for letter in value if letter.isalnum())
    if len(core) < least or not _has_both(core) or _PARTS.fullmatch(value) or entropy(core) < _ENTROPY:
        return False
    classes = [_class(letter) for letter in core]
    pairs = list(pairwise(classes))
    return sum(
        one != next for one, next in pairs if (one, next) != ("upper", "lower")
    ) >= _LEAST_SWITCHES * len(pairs)


def is_uuid(value: str) -> bool:
    """Return whether a value is a UUID, which names a thing and is seldom a secret."""
    return _UUID.fullmatch(value) is not None


def is_name_in_parts(value: str) -> bool:
    """Return whether a value is words and numbers between separators: a machine, a path, a version."""
    return _PARTS.fullmatch(value) is not None


def is_mixed(value: str) -> bool:
    """Return whether a value holds letters, and digits or symbols within, and is no name of a program."""
    inner = any(not letter.isalnum() for letter in value.strip("._-/,"))
    return (
        any(letter.isalpha() for letter in value)
        and (inner or any(letter.isdigit() for letter in value))
        and not _IDENTIFIER.fullmatch(value)
        and not _ADDRESS.fullmatch(value)
    )


def is_strong(value: str) -> bool:
    """Return whether a value looks like a password by itself: three kinds of characters, and no path."""
    kinds = {_class(letter) for letter in value.strip("._-/,:;")}
    return len(value) >= _LEAST_STRONG and len(kinds) >= 3 and is_mixed(value) and "/" not in value


def is_unlike_words(value: str) -> bool:
    """Return whether a value holds a letter, a digit and within it a symbol that words do not hold."""
    inner = value.strip("!?#*+~$%@")
    return len(value) >= _LEAST_STRONG and _has_both(value) and bool(_RARE & set(inner)) and is_strong(value)


def _has_both(value: str) -> bool:
    return any(letter.isdigit() for letter in value) and any(letter.isalpha() for letter in value)


def _class(letter: str) -> str:
    if letter.isdigit():
        return "digit"
    if letter.isalpha():
        return "upper" if letter.isupper() else "lower"
    return "symbol"


def entropy(text: str) -> float:
    """Return the Shannon entropy of a text's characters, in bits a character."""
    counts = Counter(text)
    return -sum(count / len(text) * math.log2(count / len(text)) for count in counts.values())
