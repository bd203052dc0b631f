"""Sentence boundaries in any script, found with regular expressions in linear time."""

import re

# A stop counts where white space follows it; the full-width stops of Chinese and Japanese need none. Stops
# without white space are matched too, as `inside`, so that a long row of them is read only once.
_END = re.compile(
    r"[.!?…]++[\"'”’»)\]]*+(?:(?=\s)|(?P<inside>))|[。！？｡]+[」』”’）)]*"
    r"|\n[ \t]*\n|\n(?=[ \t]*(?:[-*+•|>]|\d+[.)])[ \t])"
)

# "Dr. Lee", "J. K. Rowling", "c. 890" and "e.g. this" do not end a sentence.
_ABBREVIATION = re.compile(
    r"(?:^|[\s(\[\"“])(?:[^\W\d_]|(?:[A-Za-z]\.)+[A-Za-z]|Mr|Mrs|Ms|Dr|St|Sr|Jr|Prof|Gen|Col|Lt|Sgt|Capt|Rev|Hon|Mt|Ft"
    r"|No|Nos|vs|etc|cf|ca|approx|fig|vol|ed|eds|pp|Inc|Ltd|Co|Corp|Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sep|Sept|Oct|Nov|Dec)$"
)
_LONGEST_ABBREVIATION = 12


def sentence_spans(text: str, start: int = 0, end: int | None = None) -> list[tuple[int, int]]:
    """Return the spans of sentences in `text[start:end]`; they tile it, white space included."""
    stop = len(text) if end is None else end
    spans: list[tuple[int, int]] = []
    begin = start
    for match in _END.finditer(text, start, stop):
        if match["inside"] is not None:
            continue
        before = text[max(begin, match.start() - _LONGEST_ABBREVIATION) : match.start()]
        if match.group()[0] == "." and _ABBREVIATION.search(before):
            continue
        spans.append((begin, match.end()))
        begin = match.end()
    if begin < stop:
        spans.append((begin, stop))
    return spans
