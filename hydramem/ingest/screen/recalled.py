"""Blocks of recalled memory are left out: memory must not feed on what it recalled itself."""

import re

_START = re.compile(r"<recalled-memory(?![\w.:-])", re.IGNORECASE)

_END = re.compile(r"</recalled-memory\s*+>", re.IGNORECASE)

# A quote closes within reason, and a `>` inside quotes does not end the tag.
_TAG = re.compile(r"""(?:=\s*+"[^"]{0,500}+"|=\s*+'[^']{0,500}+'|[^>])*+>""")

# Text that was written as JSON has its quotes behind backslashes.
_OURS = re.compile(r"""data-source\s*+=\s*+\\*+["']?+\s*+hydramem(?![\w.:-])""", re.IGNORECASE)


def strip_recalled(text: str) -> str:
    """Return a text without the blocks that `prime` made; a block without an end runs to the end.

    Any case and any quoting is one of ours; tags of another source are left alone. A text without a
    block is returned as it is. Takes time in proportion to the text, whatever it holds.

    Args:
        text: What was said, or is to be remembered.
    """
    kept: list[str] = []
    copied = at = 0
    quoted = True
    while start := _START.search(text, at):
        tag = _TAG.match(text, start.end()) if quoted else None
        # Once quotes lead nowhere they are ignored: trying again at each start could take forever.
        quoted = tag is not None
        at = tag.end() if tag else text.find(">", start.end()) + 1 or len(text)
        if _OURS.search(text, start.end(), at):
            kept.append(text[copied : start.start()])
            end = _END.search(text, at)
            copied = at = end.end() if end else len(text)
    return _joined([*kept, text[copied:]]) if kept else text


def _joined(pieces: list[str]) -> str:
    """Join what stood around blocks; a line break keeps two halves of a tag from becoming one."""
    joined = pieces[0]
    apart = [joined]
    for piece in pieces[1:]:
        if piece:
            touching = not joined[-1:].isspace() and not piece[0].isspace()
            apart.append("\n" + piece if touching and joined else piece)
            joined = piece
    return "".join(apart).strip()
