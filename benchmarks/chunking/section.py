"""The results page's section on how documents are cut, and the same figures as text."""

from collections.abc import Sequence

from benchmarks.chunking.cutters import CUTTERS
from benchmarks.chunking.measure import LIMIT, SMALL_TOKENS, Figure
from benchmarks.results import table, where, with_section

TITLE = "## Chunks"
_INTRODUCTION = (
    f"How texts are cut into chunks of at most {LIMIT} tokens (`python -m benchmarks chunking`), beside two",
    "common ways on the same texts: a window of as many tokens, and paragraphs, joined while they fit.",
    "The texts are files of the Python installation, pages that are written from them, and code of other",
    "languages that a seeded generator writes; they differ a little from one installation to the next.",
    "",
    "Whole are functions, fences and tables that fit into a chunk and lie in one, a function with its",
    "decorators and the comment right above it. Where functions are is found by Python's parser, by brackets",
    "or by indentation, apart from the rules that cut.",
)
_SMALL = (
    f"Small are chunks under {SMALL_TOKENS} tokens of texts that have more; lost are lines of which a word",
    "is neither in a chunk nor in the headings above one. Of the chunks that continue a table, some have its",
    "header above them (HydraMem, token window, paragraphs). Chunks, lost lines and time are HydraMem's; the",
    "time is processor time for twice the text, over that for the text.",
)


def shown(figures: Sequence[Figure]) -> str:
    """Return the figures as two tables: what is whole, and what is small or lost."""
    return "\n".join([*_whole(figures), "", *_SMALL, "", *_small(figures)])


def placed(page: str, figures: Sequence[Figure]) -> str:
    """Return a results page with the figures in their section."""
    about = where()
    made = f"Measured {about['date']} on {about['machine']}."
    return with_section(page, TITLE, ["", *_INTRODUCTION, "", shown(figures), "", made])


def _whole(figures: Sequence[Figure]) -> list[str]:
    rows = [
        (name, ways[0].origin, f"{ways[0].units:,}", *(_share(one.whole, one.units) for one in ways))
        for name, ways in _by_group(figures).items()
        if ways[0].units
    ]
    return table(("texts", "from", "that fit", *(f"whole: {name}" for name in CUTTERS)), rows)


def _small(figures: Sequence[Figure]) -> list[str]:
    rows = [
        (
            name,
            f"{ways[0].characters / 1000:.0f}",
            f"{ways[0].chunks:,}",
            *(_share(one.small, one.chunks) for one in ways),
            ways[0].lost,
            " / ".join(_share(one.headed, one.parts) for one in ways) if ways[0].parts else "",
            f"{ways[0].ratio:.2f}",
            f"{ways[0].rate:.1f}",
        )
        for name, ways in _by_group(figures).items()
    ]
    head = (
        *("texts", "kB", "chunks", *(f"small: {name}" for name in CUTTERS), "lines lost"),
        *("with header", "time at twice the text", "MB/s"),
    )
    return table(head, rows)


def _by_group(figures: Sequence[Figure]) -> dict[str, list[Figure]]:
    return {one.group: [each for each in figures if each.group == one.group] for one in figures}


def _share(part: int, whole: int) -> str:
    return f"{100 * part / whole:.1f} %" if whole else ""
