"""What stays whole, what is too small, what is lost, and how the time grows."""

import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import ceil
from time import process_time

from benchmarks.chunking.cutters import CUTTERS, Cut, Cutter
from benchmarks.chunking.texts import Text
from hydramem.core.config import IngestConfig
from hydramem.text.cutting.table_cuts import table_header
from hydramem.text.tokens import count_tokens

LIMIT = IngestConfig().chunk_tokens
SMALL_TOKENS = 20
_TIMED_CHARS = 60_000
_REPEATS = 3
_WORD = re.compile(r"[^\W_]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """How one way to cut did on the texts of one group.

    Attributes:
        characters: Of the texts.
        units: Functions, fences or tables that fit into a chunk.
        whole: Of these, those that are in one chunk.
        small: Chunks under `SMALL_TOKENS`, of texts that have more.
        lost: Lines that are in no chunk, nor in the headings of one.
        parts: Chunks that continue a table.
        headed: Of these, those with its header.
        ratio: Processor time for twice the text, over that for the text.
        rate: Megabytes a second, of characters.
    """

    group: str
    origin: str
    cutter: str
    files: int
    characters: int
    units: int
    whole: int
    chunks: int
    small: int
    lost: int
    parts: int
    headed: int
    ratio: float
    rate: float


def measure(texts: Sequence[Text], *, limit: int = LIMIT, timed: int = _TIMED_CHARS) -> list[Figure]:
    """Cut the texts of each group in each way.

    Args:
        limit: Most tokens of a chunk.
        timed: Characters of the shorter of the two texts that are timed; 0 times none.
    """
    groups = {one.group: [each for each in texts if each.group == one.group] for one in texts}
    return [
        _figure(group, name, cutter, limit, timed)
        for group in groups.values()
        for name, cutter in CUTTERS.items()
    ]


def _figure(texts: Sequence[Text], name: str, cutter: Cutter, limit: int, timed: int) -> Figure:
    units = whole = chunks = small = lost = parts = headed = 0
    for one in texts:
        cuts = cutter(one.text, one.kind, limit)
        fitting, kept = _whole(one, cuts, limit)
        units, whole = units + fitting, whole + kept
        chunks += len(cuts)
        small += sum(cut.tokens < SMALL_TOKENS for cut in cuts) if len(cuts) > 1 else 0
        lost += len(lost_lines(one.text, cuts))
        continuing = [cut for unit in one.units for cut in _continuing(one.text, unit, cuts)]
        parts, headed = parts + len(continuing), headed + sum(bool(cut.head) for cut in continuing)
    ratio, rate = _time(texts, cutter, limit, timed) if timed else (float("nan"), float("nan"))
    return Figure(
        group=texts[0].group,
        origin=texts[0].origin,
        cutter=name,
        files=len(texts),
        characters=sum(len(one.text) for one in texts),
        units=units,
        whole=whole,
        chunks=chunks,
        small=small,
        lost=lost,
        parts=parts,
        headed=headed,
        ratio=ratio,
        rate=rate,
    )


def _whole(one: Text, cuts: Sequence[Cut], limit: int) -> tuple[int, int]:
    """Return how many units fit, and how many of these are in one chunk."""
    starts = [cut.start for cut in cuts]
    fitting = kept = 0
    for unit in one.units:
        start, end = _trimmed(one.text, *unit)
        if count_tokens(one.text[start:end]) > limit:
            continue
        fitting += 1
        last = bisect_right(starts, start) - 1
        kept += last >= 0 and cuts[last].end >= end
    return fitting, kept


def _trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    part = text[start:end]
    return start + len(part) - len(part.lstrip()), start + len(part.rstrip())


def lost_lines(text: str, cuts: Iterable[Cut]) -> list[str]:
    """Return the lines of which a word is neither in a chunk nor in the headings above one."""
    held = bytearray(len(text))
    headings: set[tuple[str, ...]] = set()
    for cut in cuts:
        held[cut.start : cut.end] = b"\1" * (cut.end - cut.start)
        headings.update(tuple(_WORD.findall(heading)) for heading in cut.path)
    lost, position = [], 0
    for line in text.split("\n"):
        covered = all(held[position + at] for at, mark in enumerate(line) if not mark.isspace())
        if not covered and tuple(_WORD.findall(line)) not in headings | {()}:
            lost.append(line)
        position += len(line) + 1
    return lost


def _continuing(text: str, unit: tuple[int, int], cuts: Sequence[Cut]) -> list[Cut]:
    """Return the chunks that begin within a table."""
    if not table_header(text, *unit):
        return []
    return [cut for cut in cuts if unit[0] < cut.start < unit[1]]


def _time(texts: Sequence[Text], cutter: Cutter, limit: int, characters: int) -> tuple[float, float]:
    """Return the ratio of the times of a text twice over and once, and the rate of the longer."""
    joined = "\n\n".join(one.text for one in texts)
    once = (joined * ceil(characters / len(joined)))[:characters] + "\n\n"
    seconds = [float("inf")] * 2
    for _ in range(_REPEATS):
        for place, text in enumerate((once, once * 2)):
            begin = process_time()
            cutter(text, texts[0].kind, limit)
            seconds[place] = min(seconds[place], process_time() - begin)
    return seconds[1] / seconds[0], 2 * len(once) / 1e6 / seconds[1]
