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

_PASSWORD_NAME = re.compile(
    r"(?i)pass|pwd|^pw$|wachtwoord|hasło|kennwort|contraseña|clave|senha|пароль|密码|密碼|パスワード"
)
_ENTROPY = 3.0

# A value within a sentence, what a sentence calls it, and what leads to it.
_VALUE = re.compile(r"(?<![^\s\"'`(=:])[^\s\"'`()<>\[\]{},;]{4,200}+")
_LEAST_DESCRIBED = 4
_LOOKED_BACK = 80
_CALLED = re.compile(
    r"(?i)(?<![a-z])(?P<name>pass(?:word|phrase|code|wort)|passwd|pwd|pw|kennwort|contraseña|"
    r"clave|senha|wachtwoord|hasło|mot de passe|пароль|пароля|pin|pin code|login|logins|"
    r"credentials|token|"
    r"api[ _-]?key|secret key|secret|client secret|access key|signing key|encryption key|recovery key|"
    r"license key|master key|auth key)(?![a-z-])"
)
_CALLED_AFTER = re.compile(
    r"(?i)\s{1,3}(?:as|for) (?:the |my |a |your |its )?(?:[a-z]{1,12} )?(?:password|passphrase|passwd)\b"
)
_LEADING = re.compile(
    r"(?i)(?:[:：]|\b(?:is|was|to|now|ist|lautet|war|es|est|era|é|è|jest|это|are|/|be)|(?<=\s)/|—|–)[\s\"'`]{0,4}$"
)
# Between the name and a value: it is of something else, or the sentence says what a password must be like.
_MOST_BETWEEN = 45
_NO_VALUE = re.compile(
    r"(?i)[(){}\[\].;!?]|\b(?:policy|length|hash|digest|limit|count|field|file|path|prompt|hint|type|manager|reset|page|"
    r"form|must|should|may|can|needs?|requires?|least|longer|shorter|expires?|every|after|version|not|no|never)\b"
)
_PIN = re.compile(r"(?i)pin|passcode")
_CODE = re.compile(r"\d{4,8}|\d{2,4}(?:-\d{2,4}){1,3}")
_IDENTIFIER = re.compile(r"(?i)[a-z_]{2,40}(?:[._-][a-z_]{2,40})*+\d?")
_ACCOUNT = re.compile(r"(?i)login|credentials")
# A variable of a shell that holds something long and random of all kinds of characters.
_VARIABLE = re.compile(
    r"(?m)(?<![\w$])[A-Z][A-Z0-9_]{2,40}=(?P<secret>(?=[^\s]{0,60}[0-9])(?=[^\s]{0,60}[a-z])(?=[^\s]{0,60}[A-Z])[A-Za-z0-9_.+-]{24,300}+)"
    r"(?![\w/:(])"
)
_UUID = re.compile(r"(?i)[0-9a-f]{8}-[0-9a-f]{4}-")
_CARD = re.compile(
    r"(?<![\w.+-])(?:[3-6]\d{3}([ -]?)\d{4}\1\d{4}\1\d{4}|2[2-7]\d{2}([ -]?)\d{4}\2\d{4}\2\d{4}|"
    r"3[47]\d{2}([ -]?)\d{6}\3\d{5})(?![\w-])"
)
_CARD_WORDS = re.compile(
    r"(?i)card|visa|amex|american express|mastercard|maestro|discover|karte|tarjeta|carte|carta|cartão|kaart|"
    r"karta|карт|卡|カード|카드|cvv|cvc|\bcc\b|\bpay\b"
)
_SEED = re.compile(
    r"(?i)(?<![a-z])(?:seed|recovery|mnemonic|wallet|backup)[ -](?:phrase|words?|seed)[^\n]{0,20}?"
    r"(?:[:=]|\b(?:is|are))\s{0,3}"
    r"(?P<secret>[a-z]{3,8}(?:[ ,]{1,2}[a-z]{3,8}){11,23})(?![a-z])"
)
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
        (
            *_private_keys(text),
            *_by_form(text),
            *_assigned(text),
            *_described(text),
            *_cards(text),
            *_words(text),
        ),
        key=lambda one: (one.start, -one.end),
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


def _described(text: str) -> Iterator[Secret]:
    """Yield values that a sentence calls a password, a PIN or a key: "the password of the NAS is ...".

    The value decides: plain words, numbers and dates after such a name are no secrets.
    """
    for match in _VALUE.finditer(text):
        value = match[0].rstrip(".:!?")
        if len(value) < _LEAST_DESCRIBED or _STAND_IN.match(value) or "://" in value or _UUID.match(value):
            continue
        line = text[max(0, match.start() - _LOOKED_BACK) : match.start()].rpartition("\n")[2]
        named = next(reversed(list(_CALLED.finditer(line))), None)
        following = _CALLED_AFTER.match(text, match.start() + len(value))
        between = line[named.end() :] if named else ""
        if named is None and following is None:
            continue
        if named and (len(between) > _MOST_BETWEEN or _NO_VALUE.search(between)):
            continue
        kind = _kind_of(
            named["name"] if named else "password", value, told=bool(following) or _leads(between)
        )
        if kind:
            yield Secret(kind=kind, start=match.start(), end=match.start() + len(value))
    for match in _VARIABLE.finditer(text):
        if entropy(match["secret"]) >= _ENTROPY + 1:
            yield Secret(kind="secret value", start=match.start("secret"), end=match.end("secret"))


def _leads(between: str) -> bool:
    return _LEADING.search(between) is not None


def _kind_of(name: str, value: str, *, told: bool) -> str:
    """Return the kind of secret that a value is, given the name before it; empty where it is none.

    Args:
        name: What the sentence calls it.
        value: The value.
        told: Whether "is", a colon or the like stands before the value.
    """
    if _PIN.match(name) and _CODE.fullmatch(value):
        return "PIN" if told else ""
    digits = any(letter.isdigit() for letter in value)
    letters = any(letter.isalpha() for letter in value)
    if _PASSWORD_NAME.search(name) or _ACCOUNT.match(name):
        inner = any(not letter.isalnum() for letter in value.strip("._-/,"))
        mixed = letters and (digits or inner) and not _IDENTIFIER.fullmatch(value)
        phrase = "phrase" in name.lower() and value.count("-") >= 3
        return "password" if told and len(value) >= 6 and (mixed or phrase) else ""
    random = len(value) >= 16 and digits and letters and entropy(value) >= _ENTROPY
    return "secret value" if random else ""


def _cards(text: str) -> Iterator[Secret]:
    """Yield numbers of payment cards: with a right check digit, in groups or beside a word for a card."""
    for match in _CARD.finditer(text):
        digits = re.sub(r"\D", "", match[0])
        around = text[max(0, match.start() - 60) : match.end() + 40]
        grouped = match[0] != digits
        if has_check_digit(digits) and (grouped or _CARD_WORDS.search(around)):
            yield Secret(kind="card number", start=match.start(), end=match.end())


def has_check_digit(digits: str) -> bool:
    """Return whether the last digit is right by the formula of Luhn (ISO/IEC 7812-1, annex B)."""
    doubled = [int(digit) * (2 if place % 2 else 1) for place, digit in enumerate(reversed(digits))]
    return sum(each - 9 if each > 9 else each for each in doubled) % 10 == 0


def _words(text: str) -> Iterator[Secret]:
    """Yield the words from which the key of a wallet is made: twelve or more after their name."""
    for match in _SEED.finditer(text):
        yield Secret(kind="recovery phrase", start=match.start("secret"), end=match.end("secret"))


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
