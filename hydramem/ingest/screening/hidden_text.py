"""Finds invisible characters and look-alike letters in a text, and reveals what the text says.

Most invisible characters have legitimate uses: joiners in Persian, Indic and emoji, marks in Hebrew, breaks
in long paths and in scripts without spaces. Only uses that no script has count as hidden.
"""

import re
import unicodedata
from collections.abc import Iterator

# Zero width, invisible operators and deprecated controls; bidirectional controls; selectors; tags; fillers.
_JOINERS = "\u200b\u200c\u200d\u2060-\u2064\ufeff\u180e\u034f"
_BIDI = "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"
_ODD = "\u2065\u206a-\u206f\ufff9-\ufffb"
_SELECTORS = "\ufe00-\ufe0f\U000e0100-\U000e01ef"
_TAGS = "\U000e0000-\U000e007f"
_FILLERS = "\u115f\u1160\u3164\uffa0"
_UNSEEN = re.compile(f"[\u00ad{_JOINERS}{_BIDI}{_ODD}{_SELECTORS}{_TAGS}{_FILLERS}]+")

# A flag of a region is a black flag and the region's letters as tags; there is no other use of tags.
_FLAG = re.compile("\U0001f3f4[\U000e0030-\U000e0039\U000e0061-\U000e007a]{3,6}\U000e007f")
_TAG = re.compile(f"[{_TAGS}]")
_OVERRIDE = re.compile("[\u202d\u202e]")

# Right-to-left embeddings and isolates: without a right-to-left letter they have no legitimate use.
_TURNED = re.compile("[\u202b\u2067]")
_DEPRECATED = re.compile(f"[{_ODD}]")
_FILLED = re.compile(f"[{_FILLERS}]{{2,}}|(?<=[a-z])[{_FILLERS}]|[{_FILLERS}](?=[a-z])")

# After an f, German typesetters put a non-joiner: Auf\u200clage.
_SPLIT = re.compile(f"(?<=[a-zа-яα-ω])[{_JOINERS}]++(?<!f\u200c)(?=[a-zа-яα-ω])")
_RUN = re.compile(f"[{_JOINERS}]{{4}}")
_LOOSE = re.compile(f"(?<![^\\s!-~])[{_JOINERS}]+(?![^\\s!-~])")
_MOST_LOOSE = 8
_MOST_SPELT = 3
_SELECTED = re.compile(f"[{_SELECTORS}]{{2}}|(?<=[\t-~])[\U000e0100-\U000e01ef]")
_WORD = re.compile(r"[^\W\d_]+")

# Letters of other scripts that pass for Latin ones, lower case and capitals.
_LOWER = dict(
    zip(
        "аеорсухіјѕԁһӏԛԝьгпкмтвніѡοιανρκτυχγεօսհոցզɑɡ",
        "aeopcyxijsdhlqwbrnkmtbhiwoiavpktuxyeouhngqag",
        strict=True,
    )
)

_UPPER = dict(zip("АВЕКМНОРСТУХІЈЅԌӀҮΑΒΕΖΗΙΚΜΝΟΡΤΥΧ", "abekmhopctyxijsgiyabezhikmnoptyx", strict=True))
_LOOK = {**_LOWER, **_UPPER}

# Those that look the same; the others above only resemble.
_SAME = frozenset("аеорсухіјѕԁһӏԛԝօսɑɡ") | frozenset(_UPPER)
_GREEK = frozenset("οιανρκτυχ")

# Letters with a stroke or without a dot, which are no letter and accent.
_PLAIN = str.maketrans("ıłøđħŧ", "ilodht")
_DIGITS = str.maketrans("013457", "oieast")
_MIXED = re.compile(r"\w+")
_TYPED = str.maketrans("‘’‚“”„«»–—", "'''" + '"""""' + "--") | dict.fromkeys(map(ord, "*~"))
_SPACED = re.compile(r"(?<![^\W_])(?:[^\W\d_][ .\-_|/]){3,}[^\W\d_](?![^\W_])")
_BETWEEN = re.compile(r"[ .\-_|/]")


def hidden(text: str) -> tuple[str, ...]:
    """Return what is hidden in a text, one phrase each; empty where nothing is."""
    return () if text.isascii() else tuple(dict.fromkeys(_hidden(text)))


def _hidden(text: str) -> Iterator[str]:
    if _TAG.search(_FLAG.sub("", text)):
        yield "tag characters"
    if _OVERRIDE.search(text) or (_TURNED.search(text) and not _has_right_to_left(text)):
        yield "text turned round by control characters"
    if _DEPRECATED.search(text):
        yield "control characters that are out of use"
    if _SPLIT.search(text) or _RUN.search(text) or _FILLED.search(text):
        yield "invisible characters inside words"
    loose = _LOOSE.findall(text)
    if len(loose) >= _MOST_LOOSE and len(set("".join(loose))) > 1:
        yield "invisible characters as a code"
    if _SELECTED.search(text):
        yield "variation selectors as a code"
    yield from _lookalikes(text)


def _has_right_to_left(text: str) -> bool:
    return any(unicodedata.bidirectional(letter) in ("R", "AL") for letter in set(text) if letter.isalpha())


def _lookalikes(text: str) -> Iterator[str]:
    words = [word for word in _WORD.findall(text) if not word.isascii()]
    foreign = any(not set(word) & _ASCII and _is_foreign(word) for word in words)
    for word in words:
        if _disguised(word, at_home=foreign):
            yield f"letters of another script in {word[:40]!r}"


_ASCII = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")


def _is_foreign(word: str) -> bool:
    """Return whether a word is of another script and cannot pass for a Latin one."""
    return not set(word) <= _LOOK.keys() and any(
        unicodedata.name(letter, "").startswith(("CYRILLIC", "GREEK")) for letter in word
    )


def _disguised(word: str, *, at_home: bool) -> bool:
    """Return whether a Latin word has letters of another script that look the same as Latin ones.

    `IT-отдел`, `SQLа`, `cтрока` (a slip of the keyboard), `NFκB` and `μm` are not such words.
    """
    latin = [letter for letter in word if letter in _ASCII]
    strange = {at: letter for at, letter in enumerate(word) if letter not in _ASCII}
    if len(word) < 4 or not latin or not any(letter.islower() for letter in latin):
        return False
    if not all(letter in _SAME or letter in _GREEK for letter in strange.values()):
        return False
    if at_home and len(strange) >= len(latin):
        return False
    return any(_among_latin(word, at, letter) for at, letter in strange.items())


def _among_latin(word: str, at: int, letter: str) -> bool:
    before, after = word[at - 1 : at], word[at + 1 : at + 2]
    if letter in _GREEK:  # a variable or a receptor is at an end, or among capitals
        return before.islower() and after.islower() and before in _ASCII and after in _ASCII
    rest = word[at + 1 :] if at == 0 else word[:at]
    return not (rest.isupper() and at > 0)


def reveal(text: str) -> str:
    """Return a text as a person reads it: without invisible characters, normalised, spaced letters joined."""
    # A ligature of a whole phrase contains no order, and would make the text many times as long.
    phrases = {ord(sign): " " for sign in set(text) if len(unicodedata.normalize("NFKC", sign)) > _MOST_SPELT}
    seen = _UNSEEN.sub("", text).translate(phrases)
    shown = unicodedata.normalize("NFKC", seen).casefold().translate(_TYPED)
    return _SPACED.sub(lambda spaced: _BETWEEN.sub("", spaced[0]), shown)


def as_latin(revealed: str) -> str:
    """Return a revealed text in plain letters: no accents, look-alikes and digits as what they pass for.

    Words that cannot pass for Latin ones stay as they are.
    """
    if not revealed.isascii():
        apart = unicodedata.normalize("NFKD", revealed)
        revealed = "".join(letter for letter in apart if not unicodedata.combining(letter)).translate(_PLAIN)
    return _MIXED.sub(lambda found: _in_latin(found[0]), revealed)


def _in_latin(word: str) -> str:
    if word.isascii():
        has_both = not word.isalpha() and not word.isdigit()
        return word.translate(_DIGITS) if has_both else word
    shown = "".join(_LOOK.get(letter, letter) for letter in word)
    return shown if shown.isascii() else word
