"""What is stored of a turn: its text without private reasoning and without recalled memory."""

import re

_NAMES = "think|thinking|thought|thoughts|reasoning|reflection|scratchpad|inner_monologue"

# At the start of a line: a tag that is only mentioned is within a sentence.
_START = re.compile(rf"^[ \t]*+<({_NAMES})(?:\s[^<>]{{0,200}}+)?>", re.IGNORECASE | re.MULTILINE)
_TAG = re.compile(rf"<(/?)({_NAMES})(?:\s[^<>]{{0,200}}+)?>", re.IGNORECASE)

# Some templates open the block in the prompt, so that the answer holds only its end.
_LONE_END = re.compile(rf"(?:^[ \t]*+</(?:{_NAMES})\s*+>|</(?:{_NAMES})\s*+>[ \t]*+$)", re.I | re.M)


def without_reasoning(text: str) -> str:
    """Return an assistant's text without blocks such as `<think>`; a block without an end runs to the end.

    A text without a block is returned as it is. Takes time in proportion to the text, whatever it holds.

    Args:
        text: The turn as its model returned it.
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
    """Return where a block ends, with the blocks inside it."""
    name, depth = start.group(1).casefold(), 1
    for tag in _TAG.finditer(text, start.end()):
        if tag.group(2).casefold() == name:
            depth += -1 if tag.group(1) else 1
            if not depth:
                return tag.end()
    return len(text)


_RECALLED_START = re.compile(r"<recalled-memory(?![\w.:-])", re.IGNORECASE)
_END = re.compile(r"</recalled-memory\s*+>", re.IGNORECASE)

# A quote closes within reason, and a `>` inside quotes does not end the tag.
_RECALLED_TAG = re.compile(r"""(?:=\s*+"[^"]{0,500}+"|=\s*+'[^']{0,500}+'|[^>])*+>""")

# Text that was written as JSON has its quotes behind backslashes.
_OURS = re.compile(r"""data-source\s*+=\s*+\\*+["']?+\s*+hydramem(?![\w.:-])""", re.IGNORECASE)


def strip_recalled(text: str) -> str:
    """Return a text without the blocks that `prime` made; a block without an end runs to the end.

    Case and quoting of the tag do not matter; tags of another source stay. A text without a
    block is returned as it is. Takes time in proportion to the text, whatever it holds.

    Args:
        text: A turn, or a text to remember.
    """
    kept: list[str] = []
    copied = at = 0
    quoted = True
    while start := _RECALLED_START.search(text, at):
        tag = _RECALLED_TAG.match(text, start.end()) if quoted else None
        # Once quotes lead nowhere they are ignored: trying again at each start could take forever.
        quoted = tag is not None
        at = tag.end() if tag else text.find(">", start.end()) + 1 or len(text)
        if _OURS.search(text, start.end(), at):
            kept.append(text[copied : start.start()])
            end = _END.search(text, at)
            copied = at = end.end() if end else len(text)
    return _joined([*kept, text[copied:]]) if kept else text


def _joined(pieces: list[str]) -> str:
    """Join the text around blocks; a line break keeps two halves of a tag from becoming one."""
    joined = pieces[0]
    apart = [joined]
    for piece in pieces[1:]:
        if piece:
            touching = not joined[-1:].isspace() and not piece[0].isspace()
            apart.append("\n" + piece if touching and joined else piece)
            joined = piece
    return "".join(apart).strip()


# Authors without private reasoning: tags in their text are ordinary words.
_PEOPLE = frozenset({"user", "human", "me"})


def spoken_text(text: str, *, author: str | None) -> str:
    """Return a turn as it may be stored; empty where nothing of it may.

    Args:
        text: The turn.
        author: Its author.
    """
    if (author or "").casefold() not in _PEOPLE:
        text = without_reasoning(text)
    return strip_recalled(text).strip()
