"""What a reader of a document format gives, why a file cannot be read, and Markdown from its parts."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

# What at the start of a line would be a heading, a fence or an underline to the chunker, and is none.
_MARKS = re.compile(r"^(?= {0,3}(?:#{1,6}[ \t]|`{3}|~{3}|=+[ \t]*$|-{2,}[ \t]*$))", re.MULTILINE)
_SPACE = re.compile(r"\s+")
_MOST_HEADING = 200

# A sheet that nobody named is a word and a number, such as Sheet1, in the language of the program.
_PLACES = {
    "pdf": re.compile(r"^Page \d+$"),
    "pptx": re.compile(r"^Slide \d+(?:: |$)"),
    "xlsx": re.compile(r"^[^\W\d_]+\d+$"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentText:
    """A document as Markdown.

    Attributes:
        title: The title that its properties state; empty where they state none.
        happened_at: When a message was sent (UTC); None for documents that have no such moment.
        metadata: Other properties, such as the author.
    """

    title: str = ""
    text: str
    happened_at: datetime | None = None
    metadata: Mapping[str, object] = field(default_factory=dict)


class UnreadableError(Exception):
    """A file that a reader gives up on: broken, encrypted or over a limit; its text is the reason."""


class MarkdownText:
    """Gathers the blocks of a document as Markdown, up to a number of characters.

    Text of the document never becomes structure: what looks like a heading or a fence is escaped.
    """

    def __init__(self, most_characters: int) -> None:
        self._limit = most_characters
        self._size = 0
        self._blocks: list[str] = []

    def heading(self, level: int, text: str) -> None:
        """Add a heading; level 1 is the highest, and 6 the deepest. A long one is a paragraph."""
        line = one_line(text)
        if len(line) > _MOST_HEADING:
            self.paragraph(line)
        elif line:
            self._add(f"{'#' * min(level, 6)} {line}")

    def paragraph(self, text: str) -> None:
        """Add text; lines within it stay lines."""
        text = text.strip("\n ")
        if text:
            self._add(_MARKS.sub(r"\\", text))

    def item(self, text: str, *, depth: int = 0) -> None:
        """Add an item of a list; items that follow each other are one list."""
        line = one_line(text)
        if not line:
            return
        item = f"{'  ' * min(depth, 8)}- {line}"
        joins = bool(self._blocks) and self._blocks[-1].lstrip().startswith("- ")
        self._add(item, joins=joins)

    def table(self, rows: Sequence[Sequence[str]]) -> None:
        """Add a table; its first row is the header, and short rows are filled up with empty cells."""
        filled = [[_cell(cell) for cell in row] for row in rows]
        filled = [row for row in filled if any(row)]
        width = max(map(len, filled), default=0)
        if not width:
            return
        self.count(width * (len(filled) + 1) * 3)
        lines = [_line([*row, *[""] * (width - len(row))]) for row in filled]
        self._add("\n".join((lines[0], _line(["---"] * width), *lines[1:])))

    def markdown(self, text: str) -> None:
        """Add text that is Markdown already."""
        if text.strip():
            self._add(text.strip("\n"))

    def count(self, characters: int) -> None:
        """Fail where so many more characters than were added so far are over the limit.

        Raises:
            UnreadableError: They are.
        """
        if self._size + characters > self._limit:
            raise UnreadableError(
                f"too large: its text is over {self._limit / 2**20:.0f} MB (ingest.max_file_mb)"
            )

    def text(self) -> str:
        """Return all of it; empty where nothing was added."""
        return "".join(self._blocks).strip("\n") + "\n" if self._blocks else ""

    def _add(self, block: str, *, joins: bool = False) -> None:
        self.count(len(block))
        self._size += len(block) + 2
        if joins:
            self._blocks[-1:] = [self._blocks[-1].rstrip("\n"), "\n"]
        self._blocks.append(f"{block}\n\n")


def place_heading(kind: Literal["Page", "Slide"], number: int, title: str = "") -> str:
    """Return the heading of a page or slide, with its title where it has one."""
    return f"{kind} {number}: {title}" if title else f"{kind} {number}"


def without_places(headings: Sequence[str], format: str) -> tuple[str, ...]:
    """Return what headings are about: a page, a slide or a numbered sheet is where text is, and no topic.

    Args:
        headings: Headings of a document, outermost first.
        format: Its format; those of others than PDF, presentations and workbooks stay as they are.
    """
    place = _PLACES.get(format)
    plain = headings if place is None else [place.sub("", heading, count=1) for heading in headings]
    return tuple(heading for heading in plain if heading)


def without_place_lines(text: str, format: str) -> str:
    """Return a text with spaces for the places in its heading lines: small pages join into one chunk."""
    place = _PLACES.get(format)
    if place is None:
        return text
    in_headings = re.compile(rf"(?<=[#] ){place.pattern[1:]}", re.MULTILINE)
    return in_headings.sub(lambda found: " " * len(found.group()), text)


def one_line(text: str) -> str:
    """Return a text on one line, without white space around it."""
    return _SPACE.sub(" ", text).strip()


def _cell(text: str) -> str:
    return one_line(text).replace("|", "\\|")


def _line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"
