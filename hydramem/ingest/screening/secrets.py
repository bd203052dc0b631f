"""Finds secrets in a text: keys and tokens by their form, passwords in URLs, assignments of random values."""

import re
from collections.abc import Iterator

from hydramem.core.package_data import data_tables
from hydramem.ingest.screening.described_secrets import find_described
from hydramem.ingest.screening.key_blocks import find_key_blocks
from hydramem.ingest.screening.secret_values import Secret, entropy, is_public, is_random, is_strong, is_uuid

_TABLES = data_tables("secret_forms")
_ALONE, _END = r"(?<![A-Za-z0-9_-])", r"(?![A-Za-z0-9_-])"

_FORMS = {kind: re.compile(f"{_ALONE}(?P<secret>{form}){_END}") for kind, form in _TABLES["keys"].items()} | {
    kind: re.compile(form) for kind, form in _TABLES["in_context"].items()
}
_RANDOM_FORMS = {kind: re.compile(form) for kind, form in _TABLES["random_in_context"].items()}
_STRONG_FORMS = {kind: re.compile(form) for kind, form in _TABLES["strong_in_context"].items()}

_NAME = (
    r"(?:pass(?:word|wd|phrase|code)?|pwd|secret|token|credential|api[_-]?key|apikey|access[_-]?key|"
    r"secret[_-]?key|private[_-]?key|encryption[_-]?key|signing[_-]?key|auth[_-]?key|"
    r"account[_-]?key|shared[_-]?key|client[_-]?secret|psk|"
    r"passwort|kennwort|contraseña|clave|senha|mot de passe|пароль|密码|密碼|パスワード)"
)
_VALUE = (
    r"(?:(?P<quote>[\"'`])(?P<quoted>[^\"'`\n]{4,300})(?P=quote)|"
    r"(?P<bare>[^\s\"'`,;<>()\[\]{}]{6,300}+)(?![(\[{]))"
)
_ASSIGNED = re.compile(
    rf"(?i)(?P<name>(?<![a-z0-9])[a-z0-9_.-]{{0,40}}?{_NAME}(?:[_-][a-z0-9]{{1,12}}){{0,2}})[\"'`]?\s{{0,3}}"
    rf"(?P<sign>:=|=>|=|:|：|\bis\b|\bist\b|\bes\b|\best\b)\s{{0,3}}{_VALUE}"
)
# An option of a command, an element of XML, and an argument of a call.
_OPTION = re.compile(rf"(?i)(?<![\w-])--?(?P<name>[a-z-]{{0,30}}?{_NAME}|key)(?P<sign>[ =]){_VALUE}")
_ELEMENT = re.compile(
    rf"(?i)<(?P<name>[a-z0-9_.:-]{{0,40}}?{_NAME})(?P<sign>>)(?P<quoted>[^<>\s]{{6,200}}+)(?=</)"
)
_CALL = re.compile(
    r"(?i)(?:log_?in|auth(?:enticate|orize)?|(?:set_?)?(?:token|api_?key|password|secret|credentials?))\(\s{0,3}"
    r"(?P<quote>[\"'`])(?P<secret>[^\s\"'`]{16,300})(?P=quote)"
)

# Parts of names that tell something about a secret, or something else.
_NOT_SECRET_PARTS = frozenset(_TABLES["other_names"]["parts"])
_NOT_SECRET_END = re.compile(
    r"(?i)(?:hash|digest|count|limit|length|size|file|path|url|type|field|_?id|_?name)$"
)
_PART = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")

_PASSWORD_NAME = re.compile(
    r"(?i)pass|pwd|^pw$|wachtwoord|hasło|kennwort|contraseña|clave|senha|пароль|密码|密碼|パスワード"
)
_ENTROPY = 3.0
_LEAST_RANDOM = 16

# A variable of a shell that holds something long and random of all kinds of characters.
_VARIABLE = re.compile(
    r"(?m)(?<![\w$])[A-Z][A-Z0-9_]{2,40}=(?P<secret>(?=[^\s]{0,60}[0-9])(?=[^\s]{0,60}[a-z])(?=[^\s]{0,60}[A-Z])[A-Za-z0-9_.+-]{24,300}+)"
    r"(?![\w/:(])"
)
# An option that takes a password in programs that log in: its value alone tells it from a port or a path.
_SHORT_OPTION = re.compile(r"(?<!\S)-p ?(?P<quote>[\"']?)(?P<secret>[^\s\"'/:]{8,200}+)(?P=quote)(?!\S)")
_LOGS_IN = re.compile(r"(?i)\blogin\b|sshpass|(?<!\S)(?:-u|-U|--user|--username)\b")

# An address that holds a secret: only it, and no name of a version, is random in it.
_ADDRESS = re.compile(r"https?://[^\s\"'<>`]{8,2000}+")
_SECRET_ADDRESS = re.compile(
    r"(?i)hooks?\b|webhooks?\b|\bprivate\b|\bsecret|\btoken|\bfeed|\bical\b|\bcalendar"
)
_VERSION_ADDRESS = re.compile(r"/(?:commits?|blob|tree|raw|archive|sha\d*)/")
_SEGMENT = re.compile(r"[A-Za-z0-9_-]{20,300}+")

_CARD = re.compile(
    r"(?<![\w.+-])(?:[3-6]\d{3}([ .-]?)\d{4}\1\d{4}\1\d{4}|2[2-7]\d{2}([ .-]?)\d{4}\2\d{4}\2\d{4}|"
    r"3[47]\d{2}([ .-]?)\d{6}\3\d{5})(?![\w-])"
)
_CARD_WORDS = re.compile(
    r"(?i)card|visa|amex|american express|mastercard|maestro|discover|karte|tarjeta|carte|carta|cartão|kaart|"
    r"karta|карт|卡|カード|카드|cvv|cvc|\bcc\b|\bpay\b|\bpan\b"
)
_SEED = re.compile(
    r"(?i)(?<![a-z])(?:seed|recovery|mnemonic|wallet|backup)[ -](?:phrase|words?|seed)[^\n]{0,20}?"
    r"(?:[:=]|\b(?:is|are))\s{0,3}"
    r"(?P<secret>[a-z]{3,8}(?:[ ,]{1,2}[a-z]{3,8}){11,23})(?![a-z])"
)
_MASK = "[masked: {}]"


def find_secrets(text: str) -> tuple[Secret, ...]:
    """Return the secrets of a text in order, none within another."""
    found = sorted(
        (
            *find_key_blocks(text),
            *_by_form(text),
            *_in_context(text),
            *_assigned(text),
            *_of_commands(text),
            *_in_addresses(text),
            *find_described(text),
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


def _by_form(text: str) -> Iterator[Secret]:
    for kind, pattern in _FORMS.items():
        for match in pattern.finditer(text):
            if not is_public(match["secret"]):
                yield Secret(kind=kind, start=match.start("secret"), end=match.end("secret"))


def _in_context(text: str) -> Iterator[Secret]:
    """Yield what a form holds where the value itself looks like a secret."""
    for patterns, fits in ((_RANDOM_FORMS, is_random), (_STRONG_FORMS, is_strong)):
        for kind, pattern in patterns.items():
            for match in pattern.finditer(text):
                if fits(match["secret"]) and not is_public(match["secret"]):
                    name = "password" if patterns is _STRONG_FORMS else kind
                    yield Secret(kind=name, start=match.start("secret"), end=match.end("secret"))
    for match in _VARIABLE.finditer(text):
        if entropy(match["secret"]) >= _ENTROPY + 1 and not is_public(match["secret"]):
            yield Secret(kind="secret value", start=match.start("secret"), end=match.end("secret"))


def _assigned(text: str) -> Iterator[Secret]:
    for pattern in (_ASSIGNED, _OPTION, _ELEMENT):
        for match in pattern.finditer(text):
            part = "quoted" if match["quoted"] else "bare"
            value = match[part].rstrip(".:!?")
            if not _is_of_another(match["name"]) and _is_secret(match["name"], value, match["sign"]):
                kind = "password" if _PASSWORD_NAME.search(match["name"]) else "secret value"
                start = match.start(part)
                yield Secret(kind=kind, start=start, end=start + len(value))


def _of_commands(text: str) -> Iterator[Secret]:
    for match in _CALL.finditer(text):
        if is_random(match["secret"]) and not is_public(match["secret"]):
            yield Secret(kind="secret value", start=match.start("secret"), end=match.end("secret"))
    if _LOGS_IN.search(text):
        for match in _SHORT_OPTION.finditer(text):
            if is_strong(match["secret"]) and not is_public(match["secret"]):
                yield Secret(kind="password", start=match.start("secret"), end=match.end("secret"))


def _in_addresses(text: str) -> Iterator[Secret]:
    for match in _ADDRESS.finditer(text):
        if _SECRET_ADDRESS.search(match[0]) and not _VERSION_ADDRESS.search(match[0]):
            for segment in _SEGMENT.finditer(text, match.start(), match.end()):
                if is_random(segment[0], 20) and not is_uuid(segment[0]) and not is_public(segment[0]):
                    yield Secret(kind="secret of a URL", start=segment.start(), end=segment.end())


def _is_of_another(name: str) -> bool:
    """Return whether a name is of something about a secret: its hash, its length, its file."""
    parts = {part.lower() for part in _PART.findall(name)}
    return not parts.isdisjoint(_NOT_SECRET_PARTS) or _NOT_SECRET_END.search(name) is not None


def _is_secret(name: str, value: str, sign: str) -> bool:
    """Return whether a value looks random or like a password; plain words do not."""
    if is_public(value) or re.search(r"[\s(){}]", value):
        return False
    digits = any(letter.isdigit() for letter in value)
    letters = any(letter.isalpha() for letter in value)
    if _PASSWORD_NAME.search(name):
        symbols = any(not letter.isalnum() for letter in value.strip("._-/"))
        return letters and (digits or (symbols and sign in ("=", ":="))) and len(value) >= 6
    return len(value) >= _LEAST_RANDOM and digits and letters and entropy(value) >= _ENTROPY


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
