"""Where names stand in a text: dates, and names in scripts that write no blanks or capitals."""

import re
from dataclasses import dataclass
from functools import lru_cache

from hydramem.text.lexicon import MONTHS

MONTH = "|".join(f"{month.title()}|{month[:3].title()}\\.?" for month in MONTHS) + "|Sept\\.?"
"""The months in a regular expression."""

# Particles that cut a run of Chinese characters into words that may be names.
_HAN_CUT = re.compile("[的了在是和与及为对从到把被也都就而或由于以将并等之其这那有不上中下我你他她们个]")
_JOSA = re.compile("(?:에서|으로|에게|까지|부터|은|는|이|가|을|를|의|에|와|과|도|로)$")
_DAY = re.compile(r"\d{1,2}(?!\d)")
_YEAR = re.compile(r"\d{4}")


@dataclass(frozen=True, slots=True)
class Span:
    """A name where it stands in a text.

    Attributes:
        tentative: Only a sentence's start may have capitalised it.
        written: A date as it was written.
        within: Names inside this one that are names by themselves.
    """

    start: int
    end: int
    name: str
    type: str
    tentative: bool = False
    written: str = ""
    within: tuple[str, ...] = ()


def date(text: str, match: re.Match[str], spans: list[Span]) -> None:
    """Add the names of a match."""
    written = match.group("date")
    spans.append(Span(match.start("date"), match.end("date"), _iso(written), "date", written=written))


@lru_cache(maxsize=4096)
def _iso(written: str) -> str:
    year = _YEAR.findall(written)[-1] if written[:4].isdigit() is False else written[:4]
    if written[:4].isdigit():
        return written if len(written) > 4 else year
    month = next((n for n, name in enumerate(MONTHS, 1) if name[:3] in written.lower()), None)
    day = _DAY.search(written.replace(year, ""))
    if month is None:
        return year
    return f"{year}-{month:02d}-{int(day.group()):02d}" if day else f"{year}-{month:02d}"


def kana(text: str, match: re.Match[str], spans: list[Span]) -> None:
    """Add the names of a match."""
    name = match.group("kana").strip("・")
    if len(name) > 1:
        spans.append(Span(match.start("kana"), match.end("kana"), name, "thing"))


def han(text: str, match: re.Match[str], spans: list[Span]) -> None:
    """Add the names of a match."""
    start = match.start("han")
    for part in _HAN_CUT.split(match.group("han")):
        if 2 <= len(part) <= 8:
            spans.append(Span(start, start + len(part), part, "thing"))
        start += len(part) + 1


def hangul(text: str, match: re.Match[str], spans: list[Span]) -> None:
    """Add the names of a match."""
    name = _JOSA.sub("", match.group("hangul"))
    if len(name) > 1 and name != match.group("hangul"):
        spans.append(Span(match.start("hangul"), match.start("hangul") + len(name), name, "thing"))
