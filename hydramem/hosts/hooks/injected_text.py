"""What hosts and hooks put around what was said, and the words without it.

A block of recalled memory reaches a transcript as it was injected or in the wrapping of its host: after
`... hook additional context:`, within `<hook_context>` (where Gemini CLI escapes it once more) or within
`<system-reminder>`. Takes time in proportion to the text.
"""

import re

from hydramem.ingest.screening.strip_recalled_blocks import strip_recalled

_WRAPPERS = ("hook_context", "system-reminder")
_WRAPPER_TAGS = {name: re.compile(rf"<(/?){name}\s{{0,9}}>", re.IGNORECASE) for name in _WRAPPERS}

# An injected block with its tags escaped, any number of times.
_ESCAPED_START = re.compile(r"&(?:amp;){0,4}lt;recalled-memory(?![\w.:-])", re.IGNORECASE)
_ESCAPED_END = re.compile(r"&(?:amp;){0,4}lt;/recalled-memory\s{0,9}&(?:amp;){0,4}gt;", re.IGNORECASE)
_START = re.compile(r"<recalled-memory(?![\w.:-])", re.IGNORECASE)
_OURS = re.compile(r"data-source.{0,40}?hydramem(?![\w.:-])", re.IGNORECASE)
_TAG_CHARACTERS = 300
"""A start tag names its source within so many characters."""

_LABEL = re.compile(
    r"\b[A-Za-z]{1,40} hook (?:additional context|success):\s{0,8}"
    r"(?=(?:<|&(?:amp;){0,4}lt;)recalled-memory)"
)


def without_injected(text: str) -> str:
    """Return a text without wrappings of hosts and blocks of recalled memory.

    A wrapper without an end is ordinary words, unless an injected block follows: then it runs to the end, as
    such a block does.

    Args:
        text: A prompt or a turn as the host has it.
    """
    for name in _WRAPPERS:
        text = _without_wrapper(text, _WRAPPER_TAGS[name])
    text = _LABEL.sub("", text)
    return strip_recalled(_without_escaped_blocks(text)).strip()


def _without_wrapper(text: str, tags: re.Pattern[str]) -> str:
    """Leave out what is between an end tag and the nearest start tag before it."""
    kept: list[str] = []
    start: re.Match[str] | None = None
    at = 0
    for tag in tags.finditer(text):
        if not tag.group(1):
            start = tag
        elif start is not None:
            kept.append(text[at : start.start()])
            at, start = tag.end(), None
    if start is not None and holds_block(text[start.end() :]):
        kept.append(text[at : start.start()])
        at = len(text)
    return "\n".join((*kept, text[at:])) if kept else text


def holds_block(text: str) -> bool:
    """Say whether a text holds the start of an injected block, escaped or not."""
    starts = (*_START.finditer(text), *_ESCAPED_START.finditer(text))
    return any(_OURS.search(text, start.end(), start.end() + _TAG_CHARACTERS) for start in starts)


def _without_escaped_blocks(text: str) -> str:
    kept: list[str] = []
    at = 0
    while start := _ESCAPED_START.search(text, at):
        if _OURS.search(text, start.end(), start.end() + _TAG_CHARACTERS) is None:
            kept.append(text[at : start.end()])
            at = start.end()
            continue
        kept.append(text[at : start.start()])
        end = _ESCAPED_END.search(text, start.end())
        at = end.end() if end else len(text)
    return "".join((*kept, text[at:])) if kept else text
