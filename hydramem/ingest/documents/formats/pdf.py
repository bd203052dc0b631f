"""Reads a PDF by PDFium in a child process: a heading for each entry of its outline and for each page.

Needs the extra `pdf`. The child has limits of time and memory, see `pdf_child`.
"""

import importlib.util
import json
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hydramem.ingest.documents.formats.document_text import (
    DocumentText,
    MarkdownText,
    UnreadableError,
    one_line,
    place_heading,
)

_MEMORY = 2**30
_SECONDS = 60
_CHILD = Path(__file__).with_name("pdf_child.py")
_PROPERTIES = {"Author": "author", "Subject": "subject", "CreationDate": "created", "ModDate": "modified"}
_DATE = re.compile(r"(?:D:)?(\d{4})(\d{2})(\d{2})")

# PDFium writes U+FFFE or U+0002 where a word is divided at the end of a line.
_DIVIDED = re.compile(r"(?<=\w)(?:[\ufffe\x02]|[-\u2010]\ufffe?)\n(?=[^\W\d_])")
_DIVIDED_SMALL = re.compile(r"(?<=[^\W\d_])[-\u2010]\n(?=[a-zß-öø-ÿ])")
_DIGITS = re.compile(r"\d+")
_NUMBERING = re.compile(r"^[\d.IVXivx]+[.)\s]\s*")

# Lines of a page's head and foot: so many at each end, on at least so many pages.
_EDGE = 2
_FEWEST_PAGES = 3


@dataclass(frozen=True, slots=True)
class _Entry:
    """An entry of the outline; level 0 is the highest."""

    level: int
    title: str


def is_installed() -> bool:
    """Say whether the extra `pdf` is installed."""
    return importlib.util.find_spec("pypdfium2") is not None


def read_pdf(data: bytes, *, max_bytes: int, memory: int = _MEMORY, seconds: int = _SECONDS) -> DocumentText:
    """Return a PDF as Markdown.

    Args:
        data: The file.
        max_bytes: Most characters of its text.
        memory: Most bytes of memory of the child process, where the system can limit them.
        seconds: Most seconds that it may take.

    Raises:
        UnreadableError: The extra is not installed, or the file is broken, encrypted, without text, or over a
            limit of time, memory or text.
    """
    if not is_installed():
        raise UnreadableError("a PDF; pip install 'hydramem[pdf]' to read it")
    found = _run_child(data, max_bytes, memory, seconds)
    pages = _without_furniture([_clean(page) for page in found["pages"]])
    if not any(page.strip() for page in pages):
        raise UnreadableError("no text in it; a scan?")
    entries: dict[int, list[_Entry]] = {}
    for number, level, title in found["outline"]:
        if number is not None and one_line(title):
            entries.setdefault(number, []).append(_Entry(level, one_line(title)))
    text = MarkdownText(max_bytes)
    level = 2
    for number, page in enumerate(pages):
        level = _add_page(page, number, entries.get(number, ()), level, text)
    about: Mapping[str, str] = found["about"]
    metadata: dict[str, object] = {
        name: _property(key, about[key]) for key, name in _PROPERTIES.items() if about.get(key)
    }
    return DocumentText(
        title=one_line(about.get("Title", "")), text=text.text(), metadata={**metadata, "pages": len(pages)}
    )


def _run_child(data: bytes, max_bytes: int, memory: int, seconds: int) -> dict[str, Any]:
    # -P: the folder of the script holds modules that are named as the standard library's are.
    command = [sys.executable, "-P", str(_CHILD), *map(str, (memory, seconds, max_bytes))]
    try:
        done = subprocess.run(  # noqa: S603 -- our own script, by our own interpreter
            command, input=data, capture_output=True, timeout=seconds, check=False
        )
    except subprocess.TimeoutExpired as error:
        raise UnreadableError(f"not read within {seconds} seconds") from error
    if done.returncode != 0:
        last = done.stderr.decode("utf-8", "replace").strip().rpartition("\n")[2]
        why = "it needs too much memory" if "MemoryError" in last else f"exit {done.returncode}"
        raise UnreadableError(f"broken: the reader of PDF gave up ({why})")
    found: dict[str, Any] = json.loads(done.stdout)
    if "error" in found:
        large = f"too large: its text is over {max_bytes / 2**20:.0f} MB (ingest.max_file_mb)"
        raise UnreadableError(large if found["error"] == "large" else found["error"])
    return found


def _clean(page: str) -> str:
    text = page.replace("\r\n", "\n").replace("\r", "\n")
    text = _DIVIDED_SMALL.sub("", _DIVIDED.sub("", text))
    return text.replace("\ufffe", "").replace("\x02", "")


def _without_furniture(pages: Sequence[str]) -> list[str]:
    """Leave out the lines at the head and foot that are on all pages, or all but one; digits may differ."""
    lines = [page.strip().split("\n") for page in pages]
    if len(pages) < _FEWEST_PAGES:
        return ["\n".join(each) for each in lines]
    counts = Counter(key for each in lines for key in {_key(line) for line in _edges(each)})
    furniture = {key for key, count in counts.items() if key and count >= max(_FEWEST_PAGES, len(pages) - 1)}
    return ["\n".join(_inner(each, furniture)) for each in lines]


def _edges(lines: Sequence[str]) -> Sequence[str]:
    return lines if len(lines) <= 2 * _EDGE else (*lines[:_EDGE], *lines[-_EDGE:])


def _inner(lines: list[str], furniture: set[str]) -> list[str]:
    first, last = 0, len(lines)
    while first < min(_EDGE, last) and _key(lines[first]) in furniture:
        first += 1
    while last > max(first, len(lines) - _EDGE) and _key(lines[last - 1]) in furniture:
        last -= 1
    return lines[first:last]


def _key(line: str) -> str:
    return _DIGITS.sub("0", one_line(line))


def _add_page(page: str, number: int, entries: Sequence[_Entry], level: int, text: MarkdownText) -> int:
    """Add a page, under a heading of its own below the headings that begin on it; return the page's level."""
    lines = page.split("\n")
    begin = 0
    for entry in entries:
        place = _line_of(entry.title, lines, begin)
        above = "" if place is None else "\n".join(lines[begin:place])
        if above.strip():
            text.heading(level, place_heading("Page", number + 1))
            text.paragraph(above)
        if place is not None:
            begin = place + 1
        text.heading(min(entry.level, 3) + 2, entry.title)
        level = min(entry.level, 3) + 3
    rest = "\n".join(lines[begin:])
    if rest.strip():
        text.heading(level, place_heading("Page", number + 1))
        text.paragraph(rest)
    return level


def _line_of(title: str, lines: Sequence[str], begin: int) -> int | None:
    """Find the line that is a title, whatever its numbering and case."""
    wanted = _bare(title)
    return next((place for place in range(begin, len(lines)) if _bare(lines[place]) == wanted), None)


def _bare(line: str) -> str:
    words = one_line(line).casefold()
    return _NUMBERING.sub("", words) or words


def _property(key: str, value: str) -> str:
    match = _DATE.match(value) if key.endswith("Date") else None
    return "-".join(match.groups()) if match else one_line(value)[:500]
