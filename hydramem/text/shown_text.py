"""Text made ready to be shown: escaped in prompts, cut to one line, numbers with what they count."""

import re

from hydramem.text.surrogates import well_formed

# Full-width and small forms are brackets again to whoever normalises what they read (NFKC).
_MARKS = {
    ord(mark): f"&#{ord(mark)};" for mark in "\uff1c\uff1e\uff06\uff02\uff07\ufe64\ufe65\ufe60"
} | str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;"})
_QUOTES = _MARKS | str.maketrans({'"': "&quot;", "'": "&#39;"})

# What XML cannot hold, and what breaks a line where only some readers see it.
_CONTROLS = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\ufffe\uffff]")


def escape_text(text: str) -> str:
    """Return a text as the content of an element, which it can neither end nor begin another one in.

    Brackets and ampersands are escaped, control characters replaced.
    """
    return _CONTROLS.sub("\ufffd", well_formed(text).replace("\r\n", "\n")).translate(_MARKS)


def escape_attribute(text: str) -> str:
    """Return a text as the value of a quoted attribute, on one line."""
    sound = _CONTROLS.sub("\ufffd", well_formed(text))
    return " ".join(sound.split()).translate(_QUOTES)


def amount(number: int, one: str, several: str = "") -> str:
    """Return a number of things in words: `1 memory`, `2 memories`.

    Args:
        one: What one of them is called.
        several: What several are called; with an s where not given.
    """
    return f"{number:,} {one if number == 1 else several or f'{one}s'}"


def one_line(text: str, most: int) -> str:
    """Return a text on one line of at most so many characters; a cut is shown by a last `…`."""
    flat = " ".join(text.split())
    return flat if len(flat) <= most else f"{flat[: most - 1]}…"


def shown_line(text: str, most: int) -> str:
    """Return a text on one line as `one_line` does, its control characters replaced."""
    return one_line(_CONTROLS.sub("\ufffd", well_formed(" ".join(text.split()))), most)
