"""Private reasoning of assistants is left out of what is kept of a conversation."""

import re

_NAMES = "think|thinking|thought|thoughts|reasoning|reflection|scratchpad|inner_monologue"

# On a line of its own or at the start of one: a tag that is only talked about stands within a sentence.
_START = re.compile(rf"^[ \t]*+<({_NAMES})(?:\s[^<>]{{0,200}}+)?>", re.IGNORECASE | re.MULTILINE)

_TAG = re.compile(rf"<(/?)({_NAMES})(?:\s[^<>]{{0,200}}+)?>", re.IGNORECASE)

# Some templates open the block in the prompt, so that the answer holds only its end.
_LONE_END = re.compile(rf"(?:^[ \t]*+</(?:{_NAMES})\s*+>|</(?:{_NAMES})\s*+>[ \t]*+$)", re.I | re.M)


def without_reasoning(text: str) -> str:
    """Return what an assistant said without blocks such as `<think>`; one without an end runs to the end.

    A text without a block is returned as it is. Takes time in proportion to the text, whatever it holds.

    Args:
        text: What it said, as its model gave it.
    """
    kept: list[str] = []
    at = 0
    while start := _START.search(text, at):
        kept.append(text[at : start.start()])
        at = _end(text, start)
    said = "".join((*kept, text[at:]))
    for end in _LONE_END.finditer(said):
        said = said[end.end() :]
        break
    return said if said == text else said.strip()


def _end(text: str, start: re.Match[str]) -> int:
    """Return where a block ends, with those inside it."""
    name, depth = start.group(1).casefold(), 1
    for tag in _TAG.finditer(text, start.end()):
        if tag.group(2).casefold() == name:
            depth += -1 if tag.group(1) else 1
            if not depth:
                return tag.end()
    return len(text)
