"""Finds secrets in a text: keys and tokens by their form, passwords in URLs, assignments of random values."""

import math
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from hydramem.core.package_data import data_tables

_TABLES = data_tables("secret_forms")
_ALONE, _END = r"(?<![A-Za-z0-9_-])", r"(?![A-Za-z0-9_-])"

_FORMS = {kind: re.compile(f"{_ALONE}(?P<secret>{form}){_END}") for kind, form in _TABLES["keys"].items()} | {
    kind: re.compile(form) for kind, form in _TABLES["in_context"].items()
}

_KEY_BEGIN = re.compile(r"-----BEGIN (?:[A-Z0-9]{1,12} ){0,4}PRIVATE KEY(?: BLOCK)?-----")
_KEY_BODY = re.compile(r"(?:(?:\s|\\[nr])*+(?:[A-Za-z-]{4,20}: [^\n]{0,200}\n|[A-Za-z0-9+/=]{16,}+))++")
_KEY_END = re.compile(r"(?:\s|\\[nr]|[A-Za-z0-9+/=])*+-----END [A-Z0-9 ]{0,60}-----")

_NAME = (
    r"(?:pass(?:word|wd|phrase|code)?|pwd|secret|token|credential|api[_-]?key|apikey|access[_-]?key|"
    r"secret[_-]?key|private[_-]?key|encryption[_-]?key|signing[_-]?key|auth[_-]?key|"
    r"account[_-]?key|client[_-]?secret|"
    r"passwort|kennwort|contraseña|clave|senha|mot de passe|пароль|密码|密碼|パスワード)"
)

_ASSIGNED = re.compile(
    rf"(?i)(?P<name>(?<![a-z0-9])[a-z0-9_.-]{{0,40}}?{_NAME}(?:[_-][a-z0-9]{{1,12}}){{0,2}})[\"'`]?\s{{0,3}}"
    r"(?P<sign>:=|=>|=|:|：|\bis\b|\bist\b|\bes\b|\best\b)\s{0,3}"
    r"(?:(?P<quote>[\"'`])(?P<quoted>[^\"'`\n]{4,300})(?P=quote)|(?P<bare>[^\s\"'`,;<>()\[\]{}]{6,300}+)(?![(\[{]))"
)

_NOT_SECRET_NAME = re.compile(
    r"(?i)hash|digest|checksum|count|limit|length|size|_?max|_?min|expir|file|"
    r"path|url|_?id$|_?name$|type|field|policy|public|label|hint|prompt|regex|"
    r"pattern|env"
)

# Placeholders for secrets in manuals, and expressions that read one in programs.
_STAND_IN = re.compile(
    r"(?i)^(?:your|my|the|an?|some|example|sample|dummy|fake|test|placeholder|"
    r"change|replace|insert|todo|none|null|nil|"
    r"true|false|redacted|masked|hidden|removed|undefined|required|optional|x{3}|"
    r"\*{3}|\.{3}|\$|%|@|#|<|\{|\[|os\.|process\.|env|getenv|"
    r"config|settings|self\.|this\.|options|args|secrets?\.|vault|file:|/|\.|~|"
    r"password|passwd|pass$|secret|token|hunter$|changeme|"
    r"foo|bar|abc|123|qwerty|user|admin$|root$|postgres$|guest$|string|str\b|int\b|bytes|text|varchar)"
)

_PASSWORD_NAME = re.compile(r"(?i)pass|pwd|kennwort|contraseña|clave|senha|пароль|密码|密碼|パスワード")
_ENTROPY = 3.0
_MASK = "[masked: {}]"


@dataclass(frozen=True, slots=True, kw_only=True)
class Secret:
    """A secret in a text: its kind and its place."""

    kind: str
    start: int
    end: int


def find_secrets(text: str) -> tuple[Secret, ...]:
    """Return the secrets of a text in order, none within another."""
    found = sorted(
        (*_private_keys(text), *_by_form(text), *_assigned(text)), key=lambda one: (one.start, -one.end)
    )
    apart: list[Secret] = []
    for one in found:
        if not apart or one.start >= apart[-1].end:
            apart.append(one)
    return tuple(apart)


def mask_secrets(text: str, found: tuple[Secret, ...]) -> str:
    """Return a text with each secret replaced by its kind."""
    pieces, at = [], 0
    for one in found:
        pieces += [text[at : one.start], _MASK.format(one.kind)]
        at = one.end
    return "".join((*pieces, text[at:]))


def _private_keys(text: str) -> Iterator[Secret]:
    for begin in _KEY_BEGIN.finditer(text):
        body = _KEY_BODY.match(text, begin.end())
        if body:  # a header alone is talk about keys
            end = _KEY_END.match(text, body.end())
            yield Secret(kind="private key", start=begin.start(), end=(end or body).end())


def _by_form(text: str) -> Iterator[Secret]:
    for kind, pattern in _FORMS.items():
        for match in pattern.finditer(text):
            if not (kind == "password in a URL" and _STAND_IN.match(match["secret"])):
                yield Secret(kind=kind, start=match.start("secret"), end=match.end("secret"))


def _assigned(text: str) -> Iterator[Secret]:
    for match in _ASSIGNED.finditer(text):
        part = "quoted" if match["quoted"] else "bare"
        value = match[part].rstrip(".:!?")
        if not _NOT_SECRET_NAME.search(match["name"]) and _is_secret(match["name"], value, match["sign"]):
            kind = "password" if _PASSWORD_NAME.search(match["name"]) else "secret value"
            start = match.start(part)
            yield Secret(kind=kind, start=start, end=start + len(value))


def _is_secret(name: str, value: str, sign: str) -> bool:
    """Return whether a value looks random or like a password; plain words do not."""
    if _STAND_IN.match(value) or re.search(r"[\s(){}]", value) or "://" in value:
        return False
    digits = any(letter.isdigit() for letter in value)
    letters = any(letter.isalpha() for letter in value)
    if _PASSWORD_NAME.search(name):
        symbols = any(not letter.isalnum() for letter in value.strip("._-/"))
        return letters and (digits or (symbols and sign in ("=", ":="))) and len(value) >= 6
    return len(value) >= 16 and digits and letters and entropy(value) >= _ENTROPY


def entropy(text: str) -> float:
    """Return the Shannon entropy of a text's characters, in bits a character."""
    counts = Counter(text)
    return -sum(count / len(text) * math.log2(count / len(text)) for count in counts.values())
