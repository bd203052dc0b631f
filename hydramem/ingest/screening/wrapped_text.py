"""Finds text that a model reads and a person does not see: not shown, behind terminal codes, or encoded."""

import base64
import binascii
import codecs
import re
from collections.abc import Iterator
from urllib.parse import unquote

# Comments of HTML and Markdown, elements that are not shown, text in the colour of the page.
_COMMENT = re.compile(r"<!--([^>]{4,2000}+)>|\[//\]:\s{0,2}#\s{0,2}[(\"']([^\n]{4,500})")
_UNSHOWN = re.compile(
    r"<[a-z]{1,12}\s[^<>]{0,200}?(?:\bhidden\b|display:\s{0,2}none|visibility:\s{0,2}hidden|font-size:\s{0,2}0|"
    r"opacity:\s{0,2}0|(?:left|top|text-indent):\s{0,2}-\d{3,5}|color[:=]\s{0,2}[\"']?(?:white|#fff)|"
    r"width:\s{0,2}0|height:\s{0,2}0)[^<>]{0,200}>([^<]{4,1000}+)",
    re.IGNORECASE,
)

# Select graphic rendition: 8 conceals; and codes that erase what was printed or move back over it.
_RENDITION = re.compile("(?:\x1b\\[|\x9b)([0-9;]{0,40})m([^\x1b\x9b]{0,40})")
_ERASED = re.compile("(?:\x1b\\[|\x9b)[0-9;]{0,8}[AFJKH]")
_MOST_CODES = 3

_BASE64 = re.compile(r"(?<![A-Za-z0-9+/=_-])[A-Za-z0-9+/_-]{24,4000}+={0,2}")
_HEX = re.compile(r"(?<![A-Fa-f0-9])(?:[A-Fa-f0-9]{2}){10,2000}+(?![A-Fa-f0-9])")
_SPACED_HEX = re.compile(r"(?<![A-Fa-f0-9])(?:(?:0x|\\x)?[A-Fa-f0-9]{2}[ ,]{0,2}){10,2000}+")
_PERCENT = re.compile(r"(?:%[0-9A-Fa-f]{2}[\w.~-]{0,40}){4}")
_ESCAPES = re.compile(r"(?:\\u[0-9A-Fa-f]{4}){4}|(?:\\x[0-9A-Fa-f]{2}){4}|(?:&#x?[0-9A-Fa-f]{2,5};){4}")
_ESCAPE = re.compile(r"\\u([0-9A-Fa-f]{4})|\\x([0-9A-Fa-f]{2})|&#x([0-9A-Fa-f]{2,5});|&#(\d{2,5});")
_LETTERS = re.compile(r"[^\W\d_]")


def concealed_by_terminal(text: str) -> bool:
    """Return whether terminal codes hide a part of a text: concealed, in its own background, or erased."""
    if "\x1b" not in text and "\x9b" not in text:
        return False
    front = back = ""
    for codes, shown in _RENDITION.findall(text):
        parts = codes.split(";")
        front, back = _colours(parts, front, back)
        if "8" in _plain_codes(parts) or (front and front == back and _LETTERS.search(shown)):
            return True
    return len(_ERASED.findall(text)) >= _MOST_CODES


def _plain_codes(parts: list[str]) -> set[str]:
    """Return the codes of a rendition without the arguments of extended colours."""
    for code in ("38", "48"):
        if code in parts:
            parts = parts[: parts.index(code)]
    return set(parts)


def _colours(parts: list[str], front: str, back: str) -> tuple[str, str]:
    if parts in ([""], ["0"]):
        return "", ""
    for code in _plain_codes(parts):
        if len(code) == 2 and code[0] in "34" and code[1] in "01234567":
            front, back = (code[1], back) if code[0] == "3" else (front, code[1])
    if "38" in parts:
        front = ";".join(parts[parts.index("38") + 1 :])
    if "48" in parts:
        back = ";".join(parts[parts.index("48") + 1 :])
    return front, back


def unshown_parts(text: str) -> Iterator[str]:
    """Yield what stands in comments and in elements that are not shown."""
    if "<" in text or "[//]" in text:
        for match in _COMMENT.finditer(text):
            yield (match[1] or match[2]).rstrip("-)\"' ")
        for match in _UNSHOWN.finditer(text):
            yield match[1]


def decoded_parts(text: str) -> Iterator[str]:
    """Yield what parts of a text say once they are decoded.

    Base64, hexadecimal and escapes are; rot13 and reversed text where the text speaks of them.
    """
    for match in _BASE64.finditer(text):
        found = _from_base64(match[0])
        if found:
            yield found
    for pattern in (_HEX, _SPACED_HEX):
        for match in pattern.finditer(text):
            digits = re.sub(r"0x|\\x|[ ,]", "", match[0])
            yield from _printable(bytes.fromhex(digits[: len(digits) // 2 * 2]))
    if _PERCENT.search(text):
        yield unquote(text)
    if _ESCAPES.search(text):
        yield _ESCAPE.sub(_escaped, text)
    lower = text.lower()
    if "rot13" in lower or "rot-13" in lower or "rot 13" in lower:
        yield codecs.decode(text, "rot13")
    if "backward" in lower or "revers" in lower:
        yield text[::-1]


def _escaped(found: re.Match[str]) -> str:
    code = int(found[4]) if found[4] else int(found[1] or found[2] or found[3], 16)
    return chr(code) if 0x20 <= code < 0xD800 else " "


def _from_base64(word: str) -> str:
    word = word.rstrip("=").translate({ord("-"): "+", ord("_"): "/"})
    whole = word[: len(word) - 1] if len(word) % 4 == 1 else word
    try:
        decoded = base64.b64decode(whole + "=" * (-len(whole) % 4))
    except (binascii.Error, ValueError):
        return ""
    return next(_printable(decoded), "")


def _printable(decoded: bytes) -> Iterator[str]:
    """Yield decoded bytes as text where they are words of a sentence."""
    try:
        text = decoded.decode("utf-8")
    except UnicodeDecodeError:
        return
    if " " in text and text.replace("\n", " ").replace("\t", " ").isprintable():
        yield text
