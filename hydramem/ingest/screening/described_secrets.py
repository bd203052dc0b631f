"""Finds values that a sentence calls a password, a PIN, a key or a recovery code."""

import re
from bisect import bisect_right
from collections.abc import Iterator

from hydramem.core.package_data import data_tables
from hydramem.ingest.screening.secret_values import (
    Secret,
    is_mixed,
    is_name_in_parts,
    is_public,
    is_random,
    is_strong,
    is_unlike_words,
    is_uuid,
)

_TABLES = data_tables("secret_forms")
_NAMES = _TABLES["names"]
_LETTER = "a-z\u00c0-\u024f\u0400-\u04ff"
_NAMED = re.compile(
    rf"(?i)(?:(?P<compound>{'|'.join(_NAMES['compound'])})|(?<![{_LETTER}0-9_])(?:"
    + "|".join(
        f"(?P<{kind}>{'|'.join(_NAMES[kind])})"
        for kind in ("recovery", "lock", "password", "account", "secret", "pin", "key")
    )
    + rf"))(?![{_LETTER}0-9_-])"
)
# A value: no quotes, brackets or commas, and no letters beyond the Latin ones.
_CHARACTER = r"!#-&*+\-./0-9:=?@A-Z\\^_a-z|~\u00c0-\u024f"
_VALUE = re.compile(rf"(?<![{_CHARACTER}])[{_CHARACTER}]{{4,300}}+")
_AFTER = re.compile(
    r"(?i)[\"'`)]{0,2}"
    r"(?:\s{1,3}(?:as|for|is|ist|es|est)\s(?:the |my |a |your |its |das |la |le )?|\s{1,3}[(—–-]\s?)"
    r"(?:[a-z]{1,12} ){0,2}(?:password|passphrase|passwd|passwort|contraseña|mot de passe)\b"
)
_LEADING = re.compile(
    rf"(?i)(?:[:：=]|(?<![{_LETTER}])(?:{'|'.join(_NAMES['leads'])})|(?<=\s)/|->|→|—|–)[\s\"'`*「“«„]{{0,4}}$"
)
_SIGNS = frozenset((":", "=", "：", "is", "/"))
_ASIDE = re.compile(r"\([^()\n]{0,40}\)")
_MOST_BETWEEN = 45
_MOST_AFTER = 60
# Between the name and a value: it is of something else, or the sentence says what a password must be like.
_NO_VALUE = re.compile(
    r"(?i)[(){}\[\]。；]|[.;!?](?=\s|$)|\b(?:policy|length|hash|digest|limit|count|field|file|path|prompt|hint|type|manager|reset|page|"
    r"form|must|should|may|can|needs?|requires?|least|longer|shorter|expires?|every|after|version|not|no|never)\b"
)
_NOT_OF_A_KEY = re.compile(
    r"(?i)\b(?:ids?|uuid|fingerprint|sha\d*|md5|etag|commit|revision|checksum|image|build|branch|tag|trace|span|public|"
    r"primary|foreign|cache|object|partition|sort|idempotency|publishable|begins?|starts?|prefix)\b"
)
_PUBLIC_NAME = re.compile(
    r"(?i)\b(?:public|primary|foreign|cache|object|partition|sort|idempotency|publishable)[ _-]?$"
)
_CODE = re.compile(r"\d{4,8}|\d{2,4}(?:-\d{2,4}){1,3}")
_LOCK = re.compile(r"\d{4,8}[#*]?|[#*]\d{4,8}[#*]?|\d{1,2}(?:-\d{1,2}){2,4}")
_HEXADECIMAL = re.compile(r"(?i)[0-9a-f]{40}|[0-9a-f]{64}")
_PAIR = re.compile(r"[\w.@+-]{2,60}[:/](?P<secret>\S{6,200}+)")
_SPACED = re.compile(r"(?i)[a-z0-9]{4}(?:[ -][a-z0-9]{4}){3,7}(?![\w-])")

_WINDOW = 400
_CODES = re.compile(
    r"(?<![\w./:@-])(?:[A-Za-z0-9]{4,8}(?:-[A-Za-z0-9]{4,8}){1,9}|\d{4}(?: \d{4}){1,3}|"
    r"[A-Za-z0-9]{4}(?: [A-Za-z0-9]{4}){3,7}|[A-Za-z0-9]{8,16})(?![\w-])"
)
_YEARS = re.compile(r"(?:19|20)\d\d(?:\D|\d{4}$)")

_QUOTED = re.compile(
    r"(?:[^\n\"“«„`.;]{0,45}[\s:：=])?[\"“«„`](?P<secret>[^\W\d_]{2,14}(?: [^\W\d_]{2,14}){2,11})[\"”»“`]"
)
_LISTED = re.compile(
    r"\s{0,3}(?:for [^\n:.]{1,40}?)?(?:[:=]|\bis\b|\bist\b|\best\b)\s{0,3}"
    r"(?P<secret>[a-z]{3,12}(?: [a-z]{3,12}){3,9})(?=\s{0,3}(?:[.,;\n]|$))"
)
_SENTENCE = frozenset(_TABLES["sentence"]["words"])


def find_described(text: str) -> Iterator[Secret]:
    """Yield what a sentence calls a secret: "the password of the NAS is ...".

    The value decides: plain words, numbers and dates after such a name are no secrets.
    """
    names = list(_NAMED.finditer(text))
    if names:
        yield from _told(text, names)
        yield from _codes(text, names)
        yield from _phrases(text, names)


def _told(text: str, names: list[re.Match[str]]) -> Iterator[Secret]:
    ends = [name.end() for name in names]
    for match in _VALUE.finditer(text):
        value, start = match[0].rstrip(".:!?"), match.start()
        before = bisect_right(ends, start)
        named = (
            names[before - 1] if before and start - ends[before - 1] <= _MOST_BETWEEN + _MOST_AFTER else None
        )
        near = before < len(names) and names[before].start() - match.end() <= _MOST_AFTER
        if len(value) < 4 or not (named or near) or is_public(value):
            continue
        if near and len(value) >= 6 and is_mixed(value) and _AFTER.match(text, start + len(value)):
            yield Secret(kind="password", start=start, end=start + len(value))
        elif named:
            yield from _after_its_name(text, named, start, value)


def _after_its_name(text: str, named: re.Match[str], start: int, value: str) -> Iterator[Secret]:
    between = _ASIDE.sub("", text[named.end() : start])
    if len(between) > _MOST_BETWEEN or _NO_VALUE.search(between):
        return
    if "\n" in between and between.strip(" \t\n*") not in (":", "："):
        return
    before = text[max(0, named.start() - 16) : named.start()]
    adjacent = not between.strip(" \t\"'`*")
    # In a list of a user and a password nothing leads from the name to the value.
    told = _LEADING.search(between) is not None or (adjacent and before.rstrip().endswith(","))
    # "pass" is most often a verb: "pass ... to" leads to no password.
    if named[0].lower() == "pass" and between.strip(" \t\"'`*") not in _SIGNS:
        told = any(letter.isdigit() for letter in value) and is_strong(value)
    spaced = _SPACED.match(text, start) if told and named.lastgroup in ("password", "secret") else None
    if spaced and (len(value) == 4 or value.count("-") >= 3):
        yield Secret(kind=_KINDS[named.lastgroup or ""], start=start, end=spaced.end())
        return
    pair = _PAIR.fullmatch(value) if named.lastgroup == "account" else None
    if pair and is_strong(pair["secret"]):
        yield Secret(kind="password", start=start + pair.start("secret"), end=start + len(value))
        return
    if _is_one(named, value, between, told=told, before=before):
        yield Secret(kind=_KINDS[named.lastgroup or ""], start=start, end=start + len(value))


_KINDS = {
    "compound": "password",
    "password": "password",
    "account": "password",
    "pin": "PIN",
    "lock": "PIN",
    "secret": "secret value",
    "key": "secret value",
    "recovery": "recovery code",
}


def _is_one(named: re.Match[str], value: str, between: str, *, told: bool, before: str) -> bool:
    """Return whether a value is the secret that the name before it announces.

    Args:
        named: The name.
        value: The value.
        between: What stands between the two, without what is in brackets.
        told: Whether "is", a colon or the like stands before the value.
        before: What stands before the name.
    """
    adjacent = not between.strip(" \t\"'`*")
    match named.lastgroup:
        case "pin":
            return bool(_CODE.fullmatch(value)) and (told or (adjacent and named[0].isupper()))
        case "lock":
            return bool(_LOCK.fullmatch(value)) and (told or adjacent)
        case "account":
            return told and len(value) >= 6 and is_mixed(value) and not is_name_in_parts(value)
        case "password" | "compound":
            digit = any(letter.isdigit() for letter in value) and any(letter.isalpha() for letter in value)
            phrase = value.count("-") >= 3 and value.replace("-", "").isalpha()
            if told and "code" in named[0].lower() and _CODE.fullmatch(value):
                return True
            if told:
                return len(value) >= 6 and (is_mixed(value) or phrase or (digit and len(value) >= 8))
            return (adjacent and digit and is_strong(value)) or is_unlike_words(value)
    if _NOT_OF_A_KEY.search(between) or _PUBLIC_NAME.search(before) or is_uuid(value):
        return False
    if named.lastgroup == "key":
        cases = value.lower() != value != value.upper()
        return told and cases and is_random(value)
    close = told or adjacent or (is_random(value, 24) and not _HEXADECIMAL.fullmatch(value))
    return close and is_random(value) and (told or not _HEXADECIMAL.fullmatch(value))


def _codes(text: str, names: list[re.Match[str]]) -> Iterator[Secret]:
    """Yield the codes that stand after a name of recovery codes: groups of equal length with a digit."""
    done = 0
    for name in names:
        if name.lastgroup != "recovery":
            continue
        end = name.end() + _WINDOW
        for match in _CODES.finditer(text, max(done, name.end()), end):
            if _is_code(match[0]):
                yield Secret(kind="recovery code", start=match.start(), end=match.end())
        done = end


def _is_code(value: str) -> bool:
    groups = re.split(r"[ -]", value)
    digits = sum(letter.isdigit() for letter in value)
    if len({len(group) for group in groups}) > 1 or _YEARS.match(value) or not digits:
        return False
    if len(groups) > 1:
        return True
    return (
        value.isdigit()
        if len(value) == 8 and digits == 8
        else 2 <= digits <= len(value) - 2 and is_random(value, 8)
    )


def _phrases(text: str, names: list[re.Match[str]]) -> Iterator[Secret]:
    """Yield passphrases of plain words: in quotes after a name, or listed after one for a phrase."""
    for name in names:
        if name.lastgroup not in ("password", "compound"):
            continue
        match = _QUOTED.match(text, name.end())
        if match and not _LEADING.search(text[name.end() : match.start("secret") - 1]):
            match = None
        if match is None and "phrase" in name[0].lower():
            match = _LISTED.match(text, name.end())
        if match and not _SENTENCE & set(match["secret"].lower().split()):
            yield Secret(kind="password", start=match.start("secret"), end=match.end("secret"))
