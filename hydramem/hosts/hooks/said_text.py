"""What a person or an assistant said, and whether a prompt asks for anything."""

import re
import unicodedata

_MARKS = ("<", "&")
"""One of these is in every wrapping of a host, and in every injected block."""


def said_text(text: str) -> str:
    """Return a text without wrappings of hosts and blocks of recalled memory.

    Args:
        text: A prompt or a turn as the host has it.
    """
    if not any(mark in text for mark in _MARKS):
        return text.strip()
    from hydramem.hosts.hooks.injected_text import without_injected  # its patterns take a while to compile

    return without_injected(text)


def asks_something(prompt: str) -> bool:
    """Say whether a prompt is worth a recall: no slash command, and more than one word.

    In scripts without spaces, two wide characters count as a word.

    Args:
        prompt: What the user typed.
    """
    text = prompt.strip()
    if text.startswith("/") and "/" not in text.split()[0][1:]:
        return False
    wide = sum(unicodedata.east_asian_width(character) == "W" for character in text[:40])
    return wide > 2 or len(re.findall(r"\w+", text[:400])) > 1
