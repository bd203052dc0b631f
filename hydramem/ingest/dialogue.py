"""Dialogues written as plain text: lines that begin with who speaks, read into turns.

A text is a dialogue where it begins as one, two speakers or more come back, and most of what they say
ends as sentences do: lists of fields, whose keys come back too, are none.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import datetime

from hydramem.ingest.transcript import Conversation, Turn
from hydramem.text.dates.transcript_times import parse_loose

_NAME = r"[^\W\d_][\w.'’-]{0,30}(?: [\w.'’-]{1,20}){0,2}"

# `Ada: text`, also with its time before it: `[8 May 2023 9:15] Ada: text`.
_LINE = re.compile(rf"^[ \t]*(?:\[([^\]\n]{{4,60}})\][ \t]*)?({_NAME}):[ \t]+(?=\S)", re.MULTILINE)

_BRACKETED = re.compile(r"[ \t]*\[([^\]\n]{4,60})\][ \t]*")

_FEWEST_TURNS = 4

_LONGEST_ABOVE = 200

# A name that comes back seldomer than this share of the commonest is a word within what someone says.
_COMES_BACK = 0.2

_ENDS = tuple(".!?…。！？؟।)]\"”'")


def parse_dialogue(text: str, *, name: str) -> tuple[Conversation, ...]:
    """Read a dialogue; empty where the text is none.

    Args:
        text: Clean text; a date in brackets on a line of its own is that of the turns after it.
        name: What the conversation is called.
    """
    lines = list(_LINE.finditer(text))
    speakers = _speakers(lines)
    lines = [line for line in lines if line.group(2) in speakers]
    if len(lines) < _FEWEST_TURNS or lines[0].start() > _LONGEST_ABOVE:
        return ()
    turns = tuple(_turns(text, lines))
    if 2 * sum(turn.text.endswith(_ENDS) for turn in turns) < len(turns):
        return ()
    return (Conversation(name=name, turns=turns),)


def _speakers(lines: Sequence[re.Match[str]]) -> frozenset[str]:
    counts = Counter(line.group(2) for line in lines)
    least = max(2.0, _COMES_BACK * max(counts.values(), default=0))
    speakers = frozenset(name for name, count in counts.items() if count >= least)
    return speakers if len(speakers) > 1 else frozenset()


def _turns(text: str, lines: Sequence[re.Match[str]]) -> Iterator[Turn]:
    above, moment = _dated(text[: lines[0].start()].strip())
    ends = [*(line.start() for line in lines[1:]), len(text)]
    for line, end in zip(lines, ends, strict=True):
        said, later = _dated(text[line.end() : end].strip())
        own = parse_loose(line.group(1)) if line.group(1) else None
        if line.group(1) and own is None:
            said = f"[{line.group(1)}] {said}"
        # What stands above the first turn and is no date, such as a title, is kept with it.
        yield Turn(author=line.group(2), text=f"{above}\n{said}".strip(), happened_at=own or moment)
        above, moment = "", later or moment


def _dated(text: str) -> tuple[str, datetime | None]:
    """Take a date in brackets off the last line of a text, where that is one."""
    before, _, last = text.rpartition("\n")
    match = _BRACKETED.fullmatch(last)
    moment = parse_loose(match.group(1)) if match else None
    return (text, None) if moment is None else (before.rstrip(), moment)
