"""The outline of a text: its sections by heading, code fences left alone, and the title it gives itself."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

# A longer line is text that happens to start with `#`.
_LONGEST_HEADING = 200
_LONGEST_TITLE = 120

_MARK = re.compile(
    r"^(?P<fence> {0,3}(?:`{3,}|~{3,}))[^\n]*$"
    r"|^ {0,3}(?P<level>#{1,6})[ \t]+(?P<heading>[^\n]*)$"
    r"|^(?P<over>[^\s#>|*+`~-][^\n]*)\n(?P<under>=+|-{2,})[ \t]*$",
    re.MULTILINE,
)
_SENTENCE_END = re.compile(r"[.!?:;,。！？…]$")
_STARTS_BLOCK = re.compile(r"[-*+>|`~<{\[(]|\d+[.)]\s")
# What a link shows; emphasis, whose marks stand at the edges of words; marks of code; an escaped mark.
_LINK = re.compile(r"\[([^\[\]]{0,200})\]\([^()]{0,500}\)")
_EMPHASIS = re.compile(r"(?<![\w*\\])(\*{1,3}|_{1,3})(?=[^\s*])(.{1,200}?)(?<=[^\s\\])\1(?![\w*])")
_CODE_MARKS = re.compile(r"`+")
_ESCAPED = re.compile(r"\\([\\`*_{}\[\]()#+.!<>|~-])")


@dataclass(frozen=True, slots=True)
class Section:
    """A stretch under one heading path.

    Attributes:
        fences: The spans of its code fences.
        openings: Where each heading of its path begins; of headings with nothing else between them and the
            section, the outermost counts, and others begin where the innermost does.
    """

    start: int
    end: int
    path: tuple[str, ...]
    fences: tuple[tuple[int, int], ...] = ()
    openings: tuple[int, ...] = ()


@dataclass(slots=True)
class _Open:
    start: int
    heading_start: int
    level: int
    path: tuple[str, ...]
    fences: list[tuple[int, int]]
    openings: tuple[int, ...] = ()


def sections(text: str, *, kind: str) -> Iterator[Section]:
    """Yield the sections of a text in order.

    A heading without text of its own or below it is text of its parent, so that no word is lost.

    Args:
        kind: markdown has headings and fences; text may begin with a title line; a turn has fences alone;
            code has neither.
    """
    if kind == "code":
        yield Section(0, len(text), ())
        return
    if kind == "text":
        title, begin = leading_title(text)
        yield Section(begin, len(text), (title,) if title else (), openings=(0,) if title else ())
        return
    yield from _join_bare(text, _outline(text, headings=kind == "markdown"))


def leading_title(text: str) -> tuple[str | None, int]:
    """Return a first line that is a title, and where the text continues."""
    start = len(text) - len(text.lstrip())
    stop = text.find("\n", start)
    line = text[start:stop].strip() if stop > 0 else ""
    rest = stop + 1
    while rest < len(text) and text[rest].isspace():
        rest += 1
    if not line or len(line) > _LONGEST_TITLE or rest >= len(text) or _STARTS_BLOCK.match(line):
        return None, 0
    repeats = text[rest : rest + len(line) + 4].lstrip("\"“'« ").startswith(line.split()[0])
    if repeats or (not _SENTENCE_END.search(line) and not text[rest].islower() and "\t" not in line):
        return line, rest
    return None, 0


def without_closing_marks(heading: str) -> str:
    """Return the text of a `#` heading without the marks that may close its line."""
    return heading.rstrip(" \t").rstrip("#").rstrip(" \t")


def plain_heading(heading: str) -> str:
    """Return a heading without its Markdown marks; underscores and stars within a name stay."""
    plain = _LINK.sub(r"\1", heading)
    for _ in range(2):  # bold with slanted words in it
        plain = _EMPHASIS.sub(_emphasized, plain)
    return " ".join(_ESCAPED.sub(r"\1", _CODE_MARKS.sub("", plain)).split())


def _emphasized(match: re.Match[str]) -> str:
    # `__init__` is a name, though CommonMark reads it as bold.
    is_name = match[1] == "__" and match[2].isidentifier() and match[2].islower()
    return match[0] if is_name else match[2]


def _outline(text: str, *, headings: bool) -> Iterator[tuple[_Open, int]]:
    """Yield every section, empty ones too, with its end."""
    opened = _Open(0, 0, 0, (), [])
    levels: list[tuple[int, str]] = []
    fence: tuple[str, int] | None = None
    for mark in _MARK.finditer(text):
        if mark.group("fence"):
            fence = _fence(mark, fence, opened)
        elif fence is None and headings:
            heading, level = _heading(mark)
            if not heading:
                continue
            yield opened, mark.start()
            levels = [(depth, name) for depth, name in levels if depth < level]
            path = tuple(name for _, name in levels)
            # Whatever is above a heading, its parents begin with it, unless they stand right above.
            right_above = opened.path == path and not text[opened.start : mark.start()].strip()
            above = opened.openings if right_above else (mark.start(),) * len(path)
            opened = _Open(
                mark.end(), mark.start(), level, (*path, heading), [], openings=(*above, mark.start())
            )
            levels.append((level, heading))
    if fence is not None:
        opened.fences.append((fence[1], len(text)))
    yield opened, len(text)


def _fence(mark: re.Match[str], fence: tuple[str, int] | None, opened: _Open) -> tuple[str, int] | None:
    marker = mark.group("fence").strip()
    if fence is None:
        return marker, mark.start()
    if marker[0] == fence[0][0] and len(marker) >= len(fence[0]):
        opened.fences.append((fence[1], mark.end()))
        return None
    return fence


def _heading(mark: re.Match[str]) -> tuple[str, int]:
    if mark.group("level"):
        heading, level = without_closing_marks(mark.group("heading")), len(mark.group("level"))
    else:
        heading, level = mark.group("over"), 1 if mark.group("under")[0] == "=" else 2
    return (plain_heading(heading), level) if len(heading) <= _LONGEST_HEADING else ("", level)


def _join_bare(text: str, outline: Iterator[tuple[_Open, int]]) -> Iterator[Section]:
    """Yield sections with text; runs of headings that head nothing become text under their parent."""
    bare: Section | None = None
    before: tuple[_Open, int] | None = None
    for opened, end in (*outline, (None, 0)):
        if before is not None:
            section, stop = before
            empty = not text[section.start : stop].strip()
            parent = opened is not None and opened.level > section.level
            if bare is not None and not (empty and not parent and bare.path == section.path[:-1]):
                yield bare
                bare = None
            if empty and not parent and section.level:
                begun = (
                    (bare.start, bare.openings) if bare else (section.heading_start, section.openings[:-1])
                )
                bare = Section(begun[0], stop, section.path[:-1], openings=begun[1])
            elif not empty:
                yield Section(section.start, stop, section.path, tuple(section.fences), section.openings)
        before = (opened, end) if opened is not None else None
    if bare is not None:
        yield bare
